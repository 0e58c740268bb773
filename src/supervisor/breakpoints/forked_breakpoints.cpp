#include <span>
#include <vector>

#include "arch/native.h"
#include "supervisor/breakpoints/breakpoint_table.h"
#include "supervisor/breakpoints/page_edits.h"

/// The table of a forked child.
namespace sp::supervisor {

using arch::Native;
using core::Address;
using Rescue = arch::NativeTrapHandler::Rescue;

BreakpointTable::BreakpointTable(core::ProcessId owner, pid_t tid, const BreakpointTable& parent,
                                 std::uint64_t inherited)
    : guardian_(parent.guardian_),
      target_journal_(parent.target_journal_),
      space_(guardian_.journal().new_space()),
      owner_(owner),
      memory_(tid),
      may_insert_(parent.may_insert_ && memory_.is_open()),
      trap_handler_(parent.trap_handler_),
      xol_(parent.xol_),
      original_(parent.original_),
      unwritable_pages_(parent.unwritable_pages_),
      sites_(parent.sites_),
      insertions_(parent.insertions_),
      changes_(parent.changes_),
      tells_changes_(parent.tells_changes_),
      is_registered_(true) {
  inherited = memory_.is_open() ? inherited : 0;
  for (const core::AddressRange range : xol_.resync_child(memory_, tid, parent.memory_)) {
    sites_.erase(range);
  }
  target_journal_.complete(memory_);
  sites_.for_each(kEverywhere, [&](BreakpointSite& site) {
    site.edge_cache.clear();
    site.journal_entry = Journal::kNoEntry;
    if (site.inserted) {
      (void)add_to_journal(site);
    }
    if (inherited > 0 && site.inserted && site.insertion >= inherited) {
      (void)memory_.write(site.instruction.address, Native::kBreakpoint);
    }
  });
  if (inherited == 0 && !has_changes_of(parent)) {
    resync_all();
  }
  original_.expire_maps();
  // Only now that all are in the journal: until then the guardian would take them for the parent's.
  is_registered_ = false;
  if (parent.is_registered_) {
    register_memory();
  }
  if (trap_handler_.page != Address{}) {
    register_trap_handler(target_journal_.place());
  }
}

void BreakpointTable::tell_changes() {
  if (!tells_changes_ && trap_handler_.page != Address{}) {
    tells_changes_ = true;
    note_change();
  }
}

bool BreakpointTable::has_changes_of(const BreakpointTable& parent) const {
  std::uint64_t there = 0;
  return parent.tells_changes_ &&
         memory_.read(trap_handler_.page + Rescue::kChanges,
                      std::as_writable_bytes(std::span(&there, 1))) == sizeof there &&
         there == parent.changes_;
}

void BreakpointTable::resync_all() {
  std::vector<BreakpointSite*> all;
  sites_.for_each(kEverywhere, [&](BreakpointSite& site) { all.push_back(&site); });
  for_each_page(all, [this](std::span<BreakpointSite* const> of_page, std::uint64_t /*page*/) {
    (void)edit_page(memory_, of_page, [](const BreakpointSite& site, std::span<std::byte> there) {
      const bool changes = is_breakpoint(there) != site.inserted;
      if (changes) {
        put_code(site.inserted ? std::span<const std::byte>(Native::kBreakpoint) : site.code,
                 there);
      }
      return changes;
    });
  });
}

}  // namespace sp::supervisor
