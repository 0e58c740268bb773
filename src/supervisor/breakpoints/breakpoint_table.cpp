#include "supervisor/breakpoints/breakpoint_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "arch/native.h"
#include "supervisor/breakpoints/page_edits.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using arch::NativeTrapHandler;
using core::Address;

}  // namespace

BreakpointTable::BreakpointTable(core::ProcessId owner, pid_t tid, bool may_insert,
                                 Guardian& guardian)
    : guardian_(guardian),
      space_(guardian.journal().new_space()),
      owner_(owner),
      may_insert_(may_insert),
      memory_(tid) {}

BreakpointTable::BreakpointTable(core::ProcessId owner, pid_t tid, const BreakpointTable& parent,
                                 std::uint64_t inherited)
    : guardian_(parent.guardian_),
      space_(guardian_.journal().new_space()),
      owner_(owner),
      may_insert_(parent.may_insert_),
      trap_handler_(parent.trap_handler_),
      xol_(parent.xol_),
      memory_(tid),
      original_(parent.original_),
      unwritable_pages_(parent.unwritable_pages_),
      sites_(parent.sites_),
      insertions_(parent.insertions_),
      is_registered_(true) {
  for (const core::AddressRange range : xol_.resync_child(memory_, tid, parent.memory_)) {
    std::erase_if(sites_, [range](const auto& site) { return range.contains(site.first); });
  }
  for (auto& [address, site] : sites_) {
    site.edge_cache.clear();
    site.journal_entry = Journal::kNoEntry;
    if (site.inserted) {
      (void)add_to_journal(site);
    }
    if (inherited > 0 && site.inserted && site.insertion >= inherited) {
      (void)memory_.write(address, Native::kBreakpoint);
    }
  }
  if (inherited == 0) {
    resync_all();
  }
  original_.expire_maps();
  // Only now that all are in the journal: until then the guardian would take them for the parent's.
  is_registered_ = false;
  if (parent.is_registered_) {
    register_memory();
  }
  if (trap_handler_.page != Address{}) {
    register_trap_handler();
  }
}

void BreakpointTable::register_trap_handler() {
  register_memory();
  const std::uint64_t number = space_;  // a forked child's page has its parent's
  (void)memory_.write(trap_handler_.page + NativeTrapHandler::kSpace,
                      std::as_bytes(std::span(&number, 1)));
  guardian_.register_trap_handler(space_, trap_handler_.page);
}

BreakpointTable::~BreakpointTable() {
  for (auto& [address, site] : sites_) {
    remove_from_journal(site);
  }
  if (is_registered_) {
    guardian_.unregister_memory(space_);
  }
}

void BreakpointTable::remove_from_journal(BreakpointSite& site) {
  if (site.journal_entry != Journal::kNoEntry) {
    guardian_.journal().remove(std::exchange(site.journal_entry, Journal::kNoEntry));
  }
}

BreakpointSite* BreakpointTable::inserted_at(Address address) {
  const auto found = sites_.find(address);
  return found != sites_.end() && found->second.inserted ? &found->second : nullptr;
}

BreakpointSite* BreakpointTable::site_at(Address address) {
  const auto found = sites_.find(address);
  return found != sites_.end() ? &found->second : nullptr;
}

BreakpointSite* BreakpointTable::removed_at(Address address) {
  const auto found = sites_.find(address);
  return found != sites_.end() && !found->second.inserted ? &found->second : nullptr;
}

std::optional<Address> BreakpointTable::copy_of(const BreakpointSite& site, pid_t tid) {
  return xol_.copy_of(site.instruction.address, site.code, memory_, trap_handler_.syscall_site,
                      tid);
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

std::size_t BreakpointTable::sequence_at(Address address) {
  if constexpr (Native::kLongestAtomicSequence > 0) {
    std::array<std::byte, Native::kLongestAtomicSequence> code{};
    const std::span<std::byte> there = std::span(code).first(fetch(address, code));
    const bool can_move = Native::relocate_atomic_sequence(there, address, address).has_value();
    return can_move ? Native::atomic_sequence_length(there) : 0;
  } else {
    return 0;
  }
}

bool BreakpointTable::is_in_sequence(Address address) {
  if constexpr (Native::kLongestAtomicSequence > 0) {
    std::array<std::byte, 2 * Native::kLongestAtomicSequence> code{};
    const Address first = address - Native::kLongestAtomicSequence;
    const std::span<std::byte> there = std::span(code).first(fetch(first, code));
    for (std::size_t at = 0; at <= Native::kLongestAtomicSequence && at < there.size();
         at += Native::kBreakpoint.size()) {
      if (at + Native::atomic_sequence_length(there.subspan(at)) > Native::kLongestAtomicSequence) {
        return true;
      }
    }
  }
  return false;
}

BreakpointSite& BreakpointTable::site_of(const core::Instruction& instruction) {
  const auto [found, is_new] = sites_.try_emplace(instruction.address);
  BreakpointSite& site = found->second;
  if (is_new) {
    site.instruction = instruction;
    fetch(instruction.address, site.code);
  }
  return site;
}

bool BreakpointTable::insert(BreakpointSite& site) {
  const Address address = site.instruction.address;
  return may_insert_ && !unwritable_pages_.contains(address.value() / kEditedPage) &&
         write_breakpoint(site);
}

bool BreakpointTable::write_breakpoint(BreakpointSite& site) {
  const Address address = site.instruction.address;
  if (!add_to_journal(site)) {
    return false;
  }
  if (!memory_.write(address, Native::kBreakpoint)) {
    guardian_.journal().remove(std::exchange(site.journal_entry, Journal::kNoEntry));
    unwritable_pages_.insert(address.value() / kEditedPage);
    return false;
  }
  site.insertion = insertions_++;
  site.inserted = true;
  return true;
}

/// The entry stays when the breakpoint is removed: a child that was forked before, and that the
/// guardian does not know yet, still has the breakpoint.
bool BreakpointTable::add_to_journal(BreakpointSite& site) {
  if (site.journal_entry == Journal::kNoEntry) {
    register_memory();
    const bool last =
        site.instruction.flow == core::Flow::syscall;  // see CountedCode::insert_gate()
    site.journal_entry = guardian_.journal().add(space_, site.instruction.address, site.code, last);
  }
  return site.journal_entry != Journal::kNoEntry;
}

bool BreakpointTable::remove(BreakpointSite& site) {
  const bool written = memory_.write(site.instruction.address,
                                     std::span(site.code).first(Native::kBreakpoint.size()));
  site.inserted = false;
  return written;
}

void BreakpointTable::restore_all() {
  restore({Address{0}, Address{~std::uint64_t{0}}});
  may_insert_ = false;
}

void BreakpointTable::restore(core::AddressRange range) {
  std::vector<BreakpointSite*> inserted;
  for (auto& [address, site] : sites_) {
    if (site.inserted && range.contains(address)) {
      inserted.push_back(&site);
    }
  }
  remove_all(std::move(inserted));
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
}

void BreakpointTable::insert_all(std::vector<BreakpointSite*> sites) {
  if (!may_insert_) {
    return;
  }
  std::erase_if(sites, [](const BreakpointSite* site) { return site->inserted; });
  for_each_page(sites, [this](std::span<BreakpointSite* const> of_page, std::uint64_t page) {
    if (unwritable_pages_.contains(page)) {
      return;
    }
    const auto insert_one = [this](BreakpointSite& site, std::span<std::byte> there) {
      const std::size_t size = std::min<std::size_t>(site.instruction.length, there.size());
      const bool is_as_expected =
          !is_breakpoint(there) &&
          std::equal(site.code.begin(), site.code.begin() + size, there.begin());
      site.inserted = is_as_expected && add_to_journal(site);
      if (site.inserted) {
        site.insertion = insertions_++;
        put_code(Native::kBreakpoint, there);
      }
      return site.inserted;
    };
    if (!edit_page(memory_, of_page, insert_one)) {
      unwritable_pages_.insert(page);
      for (BreakpointSite* const site : of_page) {
        remove_from_journal(*site);
        site->inserted = false;
      }
    }
  });
}

void BreakpointTable::resync_all() {
  std::vector<BreakpointSite*> all;
  for (auto& [address, site] : sites_) {
    all.push_back(&site);
  }
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

void BreakpointTable::forget_sites(core::AddressRange range) {
  const auto inside = [&range](const auto& entry) { return range.contains(entry.first); };
  for (auto& entry : sites_) {
    if (inside(entry)) {
      remove_from_journal(entry.second);
    }
    entry.second.edge_cache.clear();
  }
  std::erase_if(sites_, inside);
  xol_.forget(range);
  original_.forget(range);
  const std::uint64_t first = range.begin.value() / kEditedPage;
  const std::uint64_t end = (range.end.value() + kEditedPage - 1) / kEditedPage;
  std::erase_if(unwritable_pages_,
                [&](std::uint64_t number) { return number >= first && number < end; });
}

}  // namespace sp::supervisor
