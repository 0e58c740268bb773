#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/address.h"
#include "core/page.h"

namespace sp::core {

/// Numbers by address, by pages: it is copied, and walked in the order of addresses, without a
/// step for each address through memory of its own.
class AddressIndex {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// kNone: there is none.
  [[nodiscard]] std::uint32_t find(Address address) const;
  /// False where there is one already, which stays.
  bool add(Address address, std::uint32_t number);
  /// `visit(number)` for each in the range, ascending.
  template <typename Visit>
  void for_each(AddressRange range, const Visit& visit) const {
    for (const std::uint64_t page : pages_in(range)) {
      for (const Entry& entry : pages_.at(page)) {
        if (range.contains(Address{page * kPageSize + entry.offset})) {
          visit(entry.number);
        }
      }
    }
  }
  void erase(AddressRange range);

 private:
  struct Entry {
    std::uint16_t offset = 0;
    std::uint32_t number = 0;
  };
  using Page = std::vector<Entry>;  // by offset

  /// Ascending.
  [[nodiscard]] std::vector<std::uint64_t> pages_in(AddressRange range) const;

  std::unordered_map<std::uint64_t, Page> pages_;
};

}  // namespace sp::core
