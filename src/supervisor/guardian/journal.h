#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/address.h"
#include "core/fd.h"

namespace sp::supervisor {

/// The undo log of changed bytes: all breakpoints in the memory of all targets. Lives in memory
/// that is shared with the guardian process, which restores the original bytes if superprofiler
/// dies without having done it.
///
/// One entry is one breakpoint. It is written before the breakpoint is inserted and erased after it
/// was removed, so at any instant every breakpoint has one; the guardian checks what is there.
class Journal {
 public:
  using EntryId = std::uint32_t;
  static constexpr EntryId kNoEntry = ~EntryId{0};

  /// Maps the shared memory; call it before the guardian is forked. If that fails, no entry can be
  /// added.
  Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// kNoEntry if the journal is full. `last`: to be restored after all others.
  [[nodiscard]] EntryId add(std::uint32_t space, core::Address address,
                            std::span<const std::byte> original, bool last = false);
  void remove(EntryId id);

  /// A number for a new address space.
  [[nodiscard]] std::uint32_t new_space() { return next_space_++; }

  /// Restores the original bytes in the address spaces whose memory is given. Runs in the guardian
  /// process.
  void restore(const std::map<std::uint32_t, core::UniqueFd>& memories) const;

 private:
  struct Entry {
    std::atomic<std::uint64_t> address;  // 0: free
    std::uint32_t space;                 // with kLast
    std::uint32_t original;
  };
  struct Shared {
    std::atomic<std::uint32_t> used;  // entries from here on were never used
    Entry entries[1];
  };
  static constexpr std::uint32_t kLast = 1U << 31U;
  // 64 MiB that cost nothing until they are written.
  static constexpr std::size_t kSize = std::size_t{64} << 20U;
  static constexpr EntryId kEntries = (kSize - sizeof(Shared)) / sizeof(Entry);

  Shared* shared_ = nullptr;
  std::vector<EntryId> free_;
  std::uint32_t next_space_ = 1;
};

}  // namespace sp::supervisor
