#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/address.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

/// When the injected handler restores an entry, should it come to that.
enum class RestoreOrder : std::uint32_t {
  first = 0,
  last = 1,   // after all those
  never = 2,  // it waits for the guardian; see copies/hold_places.h
};

/// The undo log in the target itself: the breakpoints of one address space with the original bytes,
/// from which the injected handler restores its own process where nobody else does. An entry is
/// written before its breakpoint and stays.
class TargetJournal {
 public:
  using EntryId = std::uint32_t;
  static constexpr EntryId kNoEntry = std::numeric_limits<EntryId>::max();
  /// As it stands in the target. Address 0 ends the list.
  struct Entry {
    std::uint64_t address = 0;
    std::uint32_t original = 0;
    RestoreOrder order = RestoreOrder::first;
    bool operator==(const Entry&) const = default;
  };

  /// `place`: read-only zeros in the target.
  void begin(core::AddressRange place);
  [[nodiscard]] core::AddressRange place() const { return place_; }

  /// Adds an entry; flush() writes it. kNoEntry where there is no room.
  [[nodiscard]] EntryId add(core::Address address, std::span<const std::byte> original,
                            RestoreOrder order);
  /// False where the target's memory could not be written.
  bool set_order(const TargetMemory& memory, EntryId id, RestoreOrder order);
  /// The address has other code now.
  void remove(const TargetMemory& memory, EntryId id);
  /// Writes what was added. False where the target's memory could not be written.
  bool flush(const TargetMemory& memory);
  /// Completes the copy that a forked child has.
  void complete(const TargetMemory& child);

 private:
  [[nodiscard]] bool write_one(const TargetMemory& memory, EntryId id) const;
  [[nodiscard]] bool write_from(const TargetMemory& memory, std::size_t first) const;

  core::AddressRange place_;
  std::vector<Entry> entries_;
  std::size_t written_ = 0;
};

}  // namespace sp::supervisor
