#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "core/address.h"
#include "supervisor/guardian/code_change.h"

namespace sp::supervisor {

/// Entries in memory that is shared with a forked process, which reads what is there when this one
/// is dead. `Entry` has an atomic `address`, 0 in a free one, which is written last.
template <typename Entry>
class SharedEntries {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNone = ~Id{0};

  /// Maps the memory. If that fails, no entry can be added.
  SharedEntries();
  SharedEntries(const SharedEntries&) = delete;
  SharedEntries& operator=(const SharedEntries&) = delete;
  ~SharedEntries();

  /// kNone if it is full. `fill` sets all but the address.
  template <typename Fill>
  [[nodiscard]] Id add(core::Address address, const Fill& fill);
  void remove(Id id);
  /// `visit(address, entry)` for each entry in use.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (Id id = 0; shared_ != nullptr && id < shared_->used; ++id) {
      const Entry& entry = shared_->entries[id];
      if (const auto address = entry.address.load(std::memory_order_acquire); address != 0) {
        visit(core::Address{address}, entry);
      }
    }
  }

 private:
  struct Shared {
    std::atomic<Id> used;  // entries from here on were never used
    Entry entries[1];
  };
  // 64 MiB that cost nothing until they are written.
  static constexpr std::size_t kSize = std::size_t{64} << 20U;
  static constexpr Id kEntries = (kSize - sizeof(Shared)) / sizeof(Entry);

  Shared* shared_ = nullptr;
  std::vector<Id> free_;
};

/// The undo log of changed bytes: all breakpoints in the memory of all targets, and all longer
/// changes. Lives in memory that is shared with the guardian process, which restores the original
/// bytes if superprofiler dies without having done it (restoration.h).
///
/// An entry is written before what it undoes and erased after it was undone, so at any instant
/// every change has one; the guardian checks what is there.
class Journal {
 public:
  using EntryId = std::uint32_t;
  static constexpr EntryId kNoEntry = ~EntryId{0};

  struct Breakpoint {
    std::atomic<std::uint64_t> address;
    std::uint32_t space_and_last;
    std::uint32_t original;

    [[nodiscard]] std::uint32_t space() const { return space_and_last & ~kLast; }
    [[nodiscard]] bool is_last() const { return (space_and_last & kLast) != 0; }
  };
  struct Change {
    std::atomic<std::uint64_t> address;
    std::uint32_t space;
    std::uint16_t size;
    std::uint16_t is_second;
    std::array<std::byte, CodeChange::kLongest> from;
    std::array<std::byte, CodeChange::kLongest> to;
  };

  /// Call it before the guardian is forked.
  Journal() = default;

  /// A breakpoint is to be inserted. kNoEntry if the journal is full. `last`: to be restored after
  /// all others.
  [[nodiscard]] EntryId add(std::uint32_t space, core::Address address,
                            std::span<const std::byte> original, bool last = false);
  void remove(EntryId id) { breakpoints_.remove(id); }

  /// What the guardian is to do: to change the jump to a copy (from) back to the original bytes
  /// (to), or an instruction of a copy (from) to a jump out of it (to). Its numbers are not those
  /// of breakpoints.
  [[nodiscard]] EntryId add_change(std::uint32_t space, const CodeChange& change);
  void remove_change(EntryId id) { changes_.remove(id); }

  /// A number for a new address space.
  [[nodiscard]] std::uint32_t new_space() { return next_space_++; }

  [[nodiscard]] const SharedEntries<Breakpoint>& breakpoints() const { return breakpoints_; }
  [[nodiscard]] const SharedEntries<Change>& changes() const { return changes_; }

 private:
  static constexpr std::uint32_t kLast = 1U << 31U;

  SharedEntries<Breakpoint> breakpoints_;
  SharedEntries<Change> changes_;
  std::uint32_t next_space_ = 1;
};

}  // namespace sp::supervisor
