#pragma once

#include <cstddef>
#include <iterator>
#include <map>

#include "core/address.h"

namespace sp::supervisor {

/// The bytes of original code that hold jumps to copies. They do not overlap.
class JumpRanges {
 public:
  void add(core::AddressRange range) { ends_[range.begin] = range.end; }
  void remove(core::Address begin) { ends_.erase(begin); }

  [[nodiscard]] bool overlap(core::Address begin, std::size_t size) const {
    const auto behind = ends_.lower_bound(begin + size);
    return behind != ends_.begin() && std::prev(behind)->second > begin;
  }

 private:
  std::map<core::Address, core::Address> ends_;  // by their beginnings
};

}  // namespace sp::supervisor
