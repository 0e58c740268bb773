#include "supervisor/copies/hold_places.h"

#include "arch/native.h"

namespace sp::supervisor {

bool HoldPlaces::add(const CodeChange& change, std::span<const std::byte> there) {
  TargetJournal& journal = code_.target_journal();
  if (!arch::NativeLivePatch::kHoldTraps || change.is_second || journal.place().size() == 0) {
    return true;
  }
  bool is_written = true;
  for (std::size_t i = 0; i < change.size; ++i) {
    if (const BreakpointSite* const site = code_.site_at(change.address + i)) {
      is_written =
          journal.set_order(code_.memory(), site->target_entry, RestoreOrder::never) && is_written;
    }
  }
  code_.add_hold(change.address);
  TargetJournal::EntryId& own =
      entries_.try_emplace(change.address, TargetJournal::kNoEntry).first->second;
  const BreakpointSite* const site = code_.site_at(change.address);
  if (site != nullptr && site->target_entry != TargetJournal::kNoEntry) {
    return is_written;
  }
  if (own == TargetJournal::kNoEntry) {
    own = journal.add(change.address, there, RestoreOrder::never);
  }
  return is_written && own != TargetJournal::kNoEntry;
}

bool HoldPlaces::flush() { return code_.target_journal().flush(code_.memory()); }

void HoldPlaces::forget(core::AddressRange range) {
  std::erase_if(entries_, [&](const auto& entry) {
    const bool is_inside = range.contains(entry.first);
    if (is_inside) {
      code_.target_journal().remove(code_.memory(), entry.second);
      code_.remove_hold(entry.first);
    }
    return is_inside;
  });
}

}  // namespace sp::supervisor
