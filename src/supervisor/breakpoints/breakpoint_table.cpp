#include "supervisor/breakpoints/breakpoint_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "arch/native.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using arch::NativeRescue;
using core::Address;

}  // namespace

BreakpointTable::BreakpointTable(core::ProcessId owner, pid_t tid, bool plants, Guardian& guardian)
    : guardian_(guardian),
      space_(guardian.journal().new_space()),
      owner_(owner),
      may_insert_(plants),
      memory_(tid) {
  (void)guardian_.register_memory(space_, memory_.fd());
}

BreakpointTable::BreakpointTable(core::ProcessId owner, pid_t tid, const BreakpointTable& parent,
                                 std::uint64_t certain)
    : guardian_(parent.guardian_),
      space_(guardian_.journal().new_space()),
      owner_(owner),
      may_insert_(parent.may_insert_),
      trap_handler_(parent.trap_handler_),
      xol_(parent.xol_),
      memory_(tid),
      regions_(parent.regions_),
      pages_(parent.pages_),
      unplantable_pages_(parent.unplantable_pages_),
      sites_(parent.sites_),
      insertions_(parent.insertions_) {
  for (const core::AddressRange range : xol_.resync_child(memory_, tid, parent.memory_)) {
    std::erase_if(sites_, [range](const auto& site) { return range.contains(site.first); });
  }
  for (auto& [address, site] : sites_) {
    site.ways = {};
    site.journal_entry = Journal::kNoEntry;
    if (site.inserted) {
      (void)add_to_journal(site);
    }
    if (certain > 0 && site.inserted && site.insertion >= certain) {
      (void)memory_.write(address, Native::kBreakpoint);
    }
  }
  if (certain == 0) {
    resync_all();
  }
  // Only now that all are on the board: until then the guardian would take them for the parent's.
  (void)guardian_.register_memory(space_, memory_.fd());
  if (trap_handler_.page != Address{}) {
    tell_guardian_of_handler();
  }
}

void BreakpointTable::tell_guardian_of_handler() {
  const std::uint64_t number = space_;  // a forked child has its parent's there
  (void)memory_.write(trap_handler_.page + NativeRescue::kSpace,
                      std::as_bytes(std::span(&number, 1)));
  guardian_.register_trap_handler(space_, trap_handler_.page);
}

BreakpointTable::~BreakpointTable() {
  for (auto& [address, site] : sites_) {
    remove_from_journal(site);
  }
  guardian_.unregister_memory(space_);
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

bool BreakpointTable::is_known_site(Address address) const { return sites_.contains(address); }

void BreakpointTable::set_maps(const std::vector<core::Mapping>& maps) {
  regions_.set(maps);
  maps_are_old_ = false;
}

std::optional<core::Instruction> BreakpointTable::decode(Address address) {
  std::array<std::byte, kLongestCode> code;
  const std::size_t size = fetch(address, code);
  return Native::decode(std::span(code).first(size), address);
}

std::size_t BreakpointTable::fetch(Address from, std::span<std::byte> into) {
  std::size_t got = 0;
  while (got < into.size()) {
    const Address at = from + got;
    const Page* const known = page(at);
    if (known == nullptr) {
      return got + memory_.read(at, into.subspan(got));
    }
    const std::uint64_t offset = at.value() % kPageSize;
    const std::size_t size = std::min<std::size_t>(into.size() - got, kPageSize - offset);
    std::memcpy(into.data() + got, known->data() + offset, size);
    got += size;
  }
  return got;
}

/// Null where the page changes, or is not there.
const BreakpointTable::Page* BreakpointTable::page(Address address) {
  const std::uint64_t number = address.value() / kPageSize;
  if (const auto found = pages_.find(number); found != pages_.end()) {
    return found->second.get();
  }
  if (regions_.at(address) != CodeKind::file_backed) {
    return nullptr;
  }
  auto fresh = std::make_shared<Page>();
  if (memory_.read(Address{number * kPageSize}, *fresh) != kPageSize) {
    return nullptr;  // beyond the end of its file
  }
  return (pages_[number] = std::move(fresh)).get();
}

std::optional<Address> BreakpointTable::copy_of(const BreakpointSite& site, pid_t tid) {
  return xol_.copy_of(site.instruction.address, site.code, memory_, trap_handler_.syscall_site,
                      tid);
}

std::optional<Address> BreakpointTable::copy_of_sequence(Address from, pid_t tid) {
  std::array<std::byte, Native::kLongestExclusive> code{};
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
  if constexpr (Native::kLongestExclusive > 0) {
    std::array<std::byte, Native::kLongestExclusive> code{};
    const std::span<std::byte> there = std::span(code).first(fetch(address, code));
    const bool can_move = Native::relocate_exclusive(there, address, address).has_value();
    return can_move ? Native::exclusive_length(there) : 0;
  } else {
    return 0;
  }
}

bool BreakpointTable::is_in_sequence(Address address) {
  if constexpr (Native::kLongestExclusive > 0) {
    std::array<std::byte, 2 * Native::kLongestExclusive> code{};
    const Address first = address - Native::kLongestExclusive;
    const std::span<std::byte> there = std::span(code).first(fetch(first, code));
    for (std::size_t at = 0; at <= Native::kLongestExclusive && at < there.size();
         at += Native::kBreakpoint.size()) {
      if (at + Native::exclusive_length(there.subspan(at)) > Native::kLongestExclusive) {
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
  return may_insert_ && !unplantable_pages_.contains(address.value() / kPageSize) &&
         write_breakpoint(site);
}

bool BreakpointTable::write_breakpoint(BreakpointSite& site) {
  const Address address = site.instruction.address;
  if (!add_to_journal(site)) {
    return false;
  }
  if (!memory_.write(address, Native::kBreakpoint)) {
    guardian_.journal().remove(std::exchange(site.journal_entry, Journal::kNoEntry));
    unplantable_pages_.insert(address.value() / kPageSize);
    return false;
  }
  site.insertion = insertions_++;
  site.inserted = true;
  return true;
}

/// It stays there when it is lifted: a child that was forked before, and is not known to the
/// guardian yet, has a breakpoint there still.
bool BreakpointTable::add_to_journal(BreakpointSite& site) {
  if (site.journal_entry == Journal::kNoEntry) {
    const bool last = site.instruction.flow == core::Flow::syscall;  // see CountedCode::gate()
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
  std::vector<BreakpointSite*> planted;
  for (auto& [address, site] : sites_) {
    if (site.inserted && range.contains(address)) {
      planted.push_back(&site);
    }
  }
  remove_all(std::move(planted));
}

template <typename Change>
bool BreakpointTable::rewrite(std::span<BreakpointSite* const> sites, const Change& change) {
  const Address begin = sites.front()->instruction.address;
  std::array<std::byte, kPageSize + kLongestCode> there;
  const auto span =
      std::span(there).first(sites.back()->instruction.address - begin + kLongestCode);
  const std::size_t size = memory_.read(begin, span);
  std::size_t first = size;  // of what changes
  std::size_t end = 0;
  for (BreakpointSite* const site : sites) {
    const std::size_t at = site->instruction.address - begin;
    if (at + Native::kBreakpoint.size() <= size && change(*site, span.first(size).subspan(at))) {
      first = std::min(first, at);
      end = std::max(end, at + Native::kBreakpoint.size());
    }
  }
  return first >= end || memory_.write(begin + first, span.subspan(first, end - first));
}

namespace {

bool stands_at(std::span<const std::byte> there) {
  return std::equal(Native::kBreakpoint.begin(), Native::kBreakpoint.end(), there.begin());
}

void put(std::span<const std::byte> bytes, std::span<std::byte> there) {
  std::copy_n(bytes.begin(), Native::kBreakpoint.size(), there.begin());
}

/// Calls `visit` with those of each page; `sites` are sorted by address.
template <typename Visit>
void for_each_page(std::vector<BreakpointSite*>& sites, std::uint64_t page_size,
                   const Visit& visit) {
  std::sort(sites.begin(), sites.end(), [](const BreakpointSite* a, const BreakpointSite* b) {
    return a->instruction.address < b->instruction.address;
  });
  for (auto first = sites.begin(); first != sites.end();) {
    const std::uint64_t page = (*first)->instruction.address.value() / page_size;
    const auto last = std::find_if(first, sites.end(), [&](const BreakpointSite* site) {
      return site->instruction.address.value() / page_size != page;
    });
    visit(std::span<BreakpointSite* const>(first, last), page);
    first = last;
  }
}

}  // namespace

void BreakpointTable::remove_all(std::vector<BreakpointSite*> sites) {
  for_each_page(
      sites, kPageSize, [this](std::span<BreakpointSite* const> of_page, std::uint64_t /*page*/) {
        (void)rewrite(of_page, [](const BreakpointSite& site, std::span<std::byte> there) {
          const bool stands = stands_at(there);
          if (stands) {
            put(site.code, there);
          }
          return stands;
        });
        for (BreakpointSite* const site : of_page) {
          site->inserted = false;
          site->ways = {};
        }
      });
}

void BreakpointTable::insert_all(std::vector<BreakpointSite*> sites) {
  if (!may_insert_) {
    return;
  }
  std::erase_if(sites, [](const BreakpointSite* site) { return site->inserted; });
  for_each_page(
      sites, kPageSize, [this](std::span<BreakpointSite* const> of_page, std::uint64_t page) {
        if (unplantable_pages_.contains(page)) {
          return;
        }
        const auto plant_one = [this](BreakpointSite& site, std::span<std::byte> there) {
          const std::size_t size = std::min<std::size_t>(site.instruction.length, there.size());
          const bool is_as_expected =
              !stands_at(there) &&
              std::equal(site.code.begin(), site.code.begin() + size, there.begin());
          site.inserted = is_as_expected && add_to_journal(site);
          if (site.inserted) {
            site.insertion = insertions_++;
            put(Native::kBreakpoint, there);
          }
          return site.inserted;
        };
        if (!rewrite(of_page, plant_one)) {
          unplantable_pages_.insert(page);
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
  for_each_page(
      all, kPageSize, [this](std::span<BreakpointSite* const> of_page, std::uint64_t /*page*/) {
        (void)rewrite(of_page, [](const BreakpointSite& site, std::span<std::byte> there) {
          const bool changes = stands_at(there) != site.inserted;
          if (changes) {
            put(site.inserted ? std::span<const std::byte>(Native::kBreakpoint) : site.code, there);
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
    entry.second.ways = {};
  }
  std::erase_if(sites_, inside);
  xol_.forget(range);
  const std::uint64_t first = range.begin.value() / kPageSize;
  const std::uint64_t end = (range.end.value() + kPageSize - 1) / kPageSize;
  const auto is_gone = [&](std::uint64_t number) { return number >= first && number < end; };
  std::erase_if(pages_, [&](const auto& entry) { return is_gone(entry.first); });
  std::erase_if(unplantable_pages_, is_gone);
}

bool adjust_pc_after_breakpoint(const BreakpointTable& code, pid_t tid, ptrace::Registers registers,
                                int si_code) {
  const Address pc = Native::pc(registers);
  const Address trap = Native::breakpoint_of_trap(pc);
  if (!Native::is_breakpoint_code(si_code) || !code.is_known_site(trap)) {
    return false;
  }
  (void)ptrace::mark_trap(tid, pc);
  Native::set_pc(registers, trap);
  (void)ptrace::set_registers(tid, registers);  // fails where it was killed
  return true;
}

}  // namespace sp::supervisor
