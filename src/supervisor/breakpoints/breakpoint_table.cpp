#include "supervisor/breakpoints/breakpoint_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "arch/native.h"
#include "core/page.h"
#include "supervisor/breakpoints/page_edits.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using Rescue = arch::NativeTrapHandler::Rescue;
using core::Address;

/// A thread that passes a gate may block SIGTRAP, and then no breakpoint may be left.
RestoreOrder order_of(const BreakpointSite& site) {
  return site.gate != Gate::none || site.instruction.flow == core::Flow::syscall
             ? RestoreOrder::last
             : RestoreOrder::first;
}

}  // namespace

BreakpointTable::BreakpointTable(core::ProcessId owner, pid_t tid, bool may_insert,
                                 Guardian& guardian)
    : guardian_(guardian),
      space_(guardian.journal().new_space()),
      owner_(owner),
      memory_(tid),
      may_insert_(may_insert && memory_.is_open()) {}

void BreakpointTable::register_trap_handler(core::AddressRange journal) {
  register_memory();
  if (journal != target_journal_.place()) {
    target_journal_.begin(journal);
  }
  const std::uint64_t number = space_;  // a forked child's page has its parent's
  (void)memory_.write(trap_handler_.page + Rescue::kSpace, std::as_bytes(std::span(&number, 1)));
  guardian_.register_trap_handler(space_, trap_handler_.page);
}

BreakpointTable::~BreakpointTable() {
  sites_.for_each(kEverywhere, [this](BreakpointSite& site) { remove_from_journal(site); });
  if (is_registered_) {
    guardian_.unregister_memory(space_);
  }
}

void BreakpointTable::remove_from_journal(BreakpointSite& site) {
  if (site.journal_entry != Journal::kNoEntry) {
    guardian_.journal().remove(std::exchange(site.journal_entry, Journal::kNoEntry));
  }
}

std::optional<Address> BreakpointTable::copy_of_sequence(Address from, pid_t tid) {
  std::array<std::byte, Native::kLongestAtomicSequence> code{};
  const std::size_t size = fetch(from, code);
  const XolArea::Sequence* const copy = xol_.copy_of_sequence(
      from, std::span(code).first(size), memory_, trap_handler_.syscall_site, tid);
  if (copy == nullptr || !trap_handler_.is_installed) {
    return std::nullopt;
  }
  for (const Address exit : copy->exits) {
    const auto jump = inserted_at(exit) == nullptr ? decode(exit) : std::nullopt;
    if (jump && !write_breakpoint(site_of(*jump))) {
      return std::nullopt;
    }
  }
  return copy->at;
}

BreakpointSite& BreakpointTable::site_of(const core::Instruction& instruction) {
  const auto [site, is_new] = sites_.try_emplace(instruction);
  if (is_new) {
    fetch(instruction.address, site->code);
  }
  return *site;
}

bool BreakpointTable::insert(BreakpointSite& site) {
  const Address address = site.instruction.address;
  return may_insert_ && !jumps_.overlap(address, Native::kBreakpoint.size()) &&
         !unwritable_pages_.contains(address.value() / core::kPageSize) && write_breakpoint(site);
}

bool BreakpointTable::write_breakpoint(BreakpointSite& site) {
  const Address address = site.instruction.address;
  if (!add_to_journals(site) || !target_journal_.flush(memory_)) {
    return false;
  }
  if (!memory_.write(address, Native::kBreakpoint)) {
    guardian_.journal().remove(std::exchange(site.journal_entry, Journal::kNoEntry));
    unwritable_pages_.insert(address.value() / core::kPageSize);
    return false;
  }
  site.insertion = insertions_++;
  site.inserted = true;
  note_change();
  return true;
}

/// The entry stays when the breakpoint is removed: a child that was forked before, and that the
/// guardian does not know yet, still has the breakpoint.
bool BreakpointTable::add_to_journal(BreakpointSite& site) {
  if (site.journal_entry == Journal::kNoEntry) {
    register_memory();
    site.journal_entry = guardian_.journal().add(space_, site.instruction.address, site.code,
                                                 order_of(site) == RestoreOrder::last);
  }
  return site.journal_entry != Journal::kNoEntry;
}

/// In the target as well; flush() has to follow.
bool BreakpointTable::add_to_journals(BreakpointSite& site) {
  if (site.target_entry == TargetJournal::kNoEntry && target_journal_.place().size() > 0) {
    site.target_entry = target_journal_.add(site.instruction.address, site.code, order_of(site));
    if (site.target_entry == TargetJournal::kNoEntry) {
      return false;
    }
  }
  return target_journal_.set_order(memory_, site.target_entry, order_of(site)) &&
         add_to_journal(site);
}

bool BreakpointTable::remove(BreakpointSite& site) {
  site.inserted = false;
  const bool was_there = is_breakpoint_at(memory_, site.instruction.address) &&
                         memory_.write(site.instruction.address,
                                       std::span(site.code).first(Native::kBreakpoint.size()));
  note_change();
  return was_there;
}

void BreakpointTable::note_change() {
  ++changes_;
  if (tells_changes_) {
    (void)memory_.write(trap_handler_.page + Rescue::kChanges,
                        std::as_bytes(std::span(&changes_, 1)));
  }
}

void BreakpointTable::remember_removed(core::AddressRange range) {
  sites_.for_each(range, [this](const BreakpointSite& site) {
    if (!site.inserted) {
      forgotten_.remember(site);
    }
  });
}

void BreakpointTable::leave_page(Address address) {
  const std::uint64_t page = address.value() / core::kPageSize;
  const core::AddressRange range{Address{page * core::kPageSize},
                                 Address{(page + 1) * core::kPageSize}};
  restore(range);
  original_.forget(range);
  unwritable_pages_.insert(page);
}

std::vector<BreakpointSite*> BreakpointTable::inserted_in(core::AddressRange range) {
  std::vector<BreakpointSite*> inserted;
  sites_.for_each(range, [&](BreakpointSite& site) {
    if (site.inserted) {
      inserted.push_back(&site);
    }
  });
  return inserted;
}

void BreakpointTable::remove_all(std::vector<BreakpointSite*> sites) {
  for_each_page(sites, [this](std::span<BreakpointSite* const> of_page, std::uint64_t /*page*/) {
    (void)edit_page(memory_, of_page, [](const BreakpointSite& site, std::span<std::byte> there) {
      const bool is_there = is_breakpoint(there);
      if (is_there) {
        put_code(site.code, there);
      }
      return is_there;
    });
    for (BreakpointSite* const site : of_page) {
      site->inserted = false;
      site->edge_cache.clear();
    }
  });
  if (!sites.empty()) {
    note_change();
  }
}

void BreakpointTable::insert_all(std::vector<BreakpointSite*> sites) {
  if (!may_insert_) {
    return;
  }
  std::erase_if(sites, [this](const BreakpointSite* site) {
    return site->inserted || jumps_.overlap(site->instruction.address, Native::kBreakpoint.size());
  });
  for_each_page(sites, [this](std::span<BreakpointSite* const> of_page, std::uint64_t page) {
    if (unwritable_pages_.contains(page)) {
      return;
    }
    const auto insert_one = [this](BreakpointSite& site, std::span<std::byte> there) {
      const std::size_t size = std::min<std::size_t>(site.instruction.length, there.size());
      const bool is_as_expected =
          !is_breakpoint(there) &&
          std::equal(site.code.begin(), site.code.begin() + size, there.begin());
      site.inserted = is_as_expected && add_to_journals(site);
      if (site.inserted) {
        site.insertion = insertions_++;
        put_code(Native::kBreakpoint, there);
      }
      return site.inserted;
    };
    const auto before_write = [this] { return target_journal_.flush(memory_); };
    if (!edit_page(memory_, of_page, insert_one, before_write)) {
      unwritable_pages_.insert(page);
      for (BreakpointSite* const site : of_page) {
        remove_from_journal(*site);
        site->inserted = false;
      }
    }
  });
  if (!sites.empty()) {
    note_change();
  }
}

void BreakpointTable::forget_sites(core::AddressRange range) {
  sites_.for_each(range, [this](BreakpointSite& site) {
    remove_from_journal(site);
    target_journal_.remove(memory_, site.target_entry);
  });
  sites_.erase(range);
  sites_.for_each(kEverywhere, [](BreakpointSite& site) { site.edge_cache.clear(); });
  xol_.forget(range);
  original_.forget(range);
  const std::uint64_t first = range.begin.value() / core::kPageSize;
  const std::uint64_t end = (range.end.value() + core::kPageSize - 1) / core::kPageSize;
  std::erase_if(unwritable_pages_,
                [&](std::uint64_t number) { return number >= first && number < end; });
}

}  // namespace sp::supervisor
