#include "supervisor/breakpoints/target_journal.h"

#include <cstring>

#include "arch/native.h"

namespace sp::supervisor {
namespace {

/// No instruction begins there.
constexpr std::uint64_t kNowhere = 1;

}  // namespace

void TargetJournal::begin(core::AddressRange place) {
  place_ = place;
  entries_.clear();
  written_ = 0;
}

TargetJournal::EntryId TargetJournal::add(core::Address address,
                                          std::span<const std::byte> original, RestoreOrder order) {
  // Zeros behind the last entry end the list.
  if ((entries_.size() + 2) * sizeof(Entry) > place_.size()) {
    return kNoEntry;
  }
  Entry entry{address.value(), 0, order};
  std::memcpy(&entry.original, original.data(), arch::Native::kBreakpoint.size());
  entries_.push_back(entry);
  return static_cast<EntryId>(entries_.size() - 1);
}

void TargetJournal::remove(const TargetMemory& memory, EntryId id) {
  if (id >= entries_.size()) {
    return;
  }
  entries_[id].address = kNowhere;
  (void)write_one(memory, id);
}

bool TargetJournal::set_order(const TargetMemory& memory, EntryId id, RestoreOrder order) {
  if (id >= entries_.size() || entries_[id].order == order) {
    return true;
  }
  entries_[id].order = order;
  return write_one(memory, id);
}

/// What flush() has not written yet, it will.
bool TargetJournal::write_one(const TargetMemory& memory, EntryId id) const {
  return id >= written_ || memory.write(place_.begin + id * sizeof(Entry),
                                        std::as_bytes(std::span(&entries_[id], 1)));
}

bool TargetJournal::write_from(const TargetMemory& memory, std::size_t first) const {
  return memory.write(place_.begin + first * sizeof(Entry),
                      std::as_bytes(std::span(entries_).subspan(first)));
}

bool TargetJournal::flush(const TargetMemory& memory) {
  if (written_ < entries_.size()) {
    if (!write_from(memory, written_)) {
      return false;
    }
    written_ = entries_.size();
  }
  return true;
}

void TargetJournal::complete(const TargetMemory& child) {
  if (entries_.empty()) {
    return;
  }
  Entry there;
  const core::Address at = place_.begin + (entries_.size() - 1) * sizeof(Entry);
  const auto bytes = std::as_writable_bytes(std::span(&there, 1));
  if (child.read(at, bytes) != bytes.size() || there != entries_.back()) {
    (void)write_from(child, 0);
  }
}

}  // namespace sp::supervisor
