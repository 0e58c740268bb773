#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/address.h"
#include "core/fd.h"

namespace sp::supervisor {

/// The breakpoints that stand in anybody's memory, in memory that is shared with the guardian
/// process, which takes them away where superprofiler died without having done it.
///
/// One entry is a breakpoint: written before it is planted and erased after it was taken away, so
/// that at any instant every breakpoint has one. The guardian looks what stands there.
class Journal {
 public:
  using EntryId = std::uint32_t;
  static constexpr EntryId kNoEntry = ~EntryId{0};

  /// Maps the board; to be called before the guardian is forked. Without memory for it places
  /// cannot be had.
  Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// `last`: to be taken away when all others are.
  [[nodiscard]] EntryId add(std::uint32_t space, core::Address address,
                            std::span<const std::byte> original, bool last = false);
  void remove(EntryId place);

  /// A number for an address space.
  [[nodiscard]] std::uint32_t new_space() { return next_space_++; }

  /// The guardian's: restores what stands in the address spaces whose memory it has.
  void restore(const std::map<std::uint32_t, core::UniqueFd>& memories) const;

 private:
  struct Entry {
    std::atomic<std::uint64_t> address;  // 0: free
    std::uint32_t space;                 // with kLast
    std::uint32_t original;
  };
  struct Board {
    std::atomic<std::uint32_t> used;  // entries beyond were never used
    Entry entries[1];
  };
  static constexpr std::uint32_t kLast = 1U << 31U;
  // 64 MiB that cost nothing until they are written to.
  static constexpr std::size_t kSize = std::size_t{64} << 20U;
  static constexpr EntryId kPlaces = (kSize - sizeof(Board)) / sizeof(Entry);

  Board* board_ = nullptr;
  std::vector<EntryId> free_;
  std::uint32_t next_space_ = 1;
};

}  // namespace sp::supervisor
