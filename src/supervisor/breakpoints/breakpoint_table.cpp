#include "supervisor/breakpoints/breakpoint_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "arch/native.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using arch::NativeTrapHandler;
using core::Address;

}  // namespace

PlantedCode::PlantedCode(core::ProcessId owner, pid_t tid, bool plants, Guardian& guardian)
    : guardian_(guardian),
      space_(guardian.planted().new_space()),
      owner_(owner),
      plants_(plants),
      memory_(tid) {
  (void)guardian_.hand_memory(space_, memory_.fd());
}

PlantedCode::PlantedCode(core::ProcessId owner, pid_t tid, const PlantedCode& parent,
                         std::uint64_t certain)
    : guardian_(parent.guardian_),
      space_(guardian_.planted().new_space()),
      owner_(owner),
      plants_(parent.plants_),
      rescue_(parent.rescue_),
      copies_(parent.copies_),
      memory_(tid),
      ground_(parent.ground_),
      pages_(parent.pages_),
      unplantable_pages_(parent.unplantable_pages_),
      sites_(parent.sites_),
      plantings_(parent.plantings_) {
  for (const core::AddressRange range : copies_.make_true_for_child(memory_, tid, parent.memory_)) {
    std::erase_if(sites_, [range](const auto& site) { return range.contains(site.first); });
  }
  for (auto& [address, site] : sites_) {
    site.ways = {};
    site.place = PlantedBoard::kNowhere;
    if (site.planted) {
      (void)put_on_board(site);
    }
    if (certain > 0 && site.planted && site.number >= certain) {
      (void)memory_.write(address, Native::kBreakpoint);
    }
  }
  if (certain == 0) {
    put_right();
  }
  // Only now that all are on the board: until then the guardian would take them for the parent's.
  (void)guardian_.hand_memory(space_, memory_.fd());
  if (rescue_.page != Address{}) {
    tell_guardian_of_handler();
  }
}

void PlantedCode::tell_guardian_of_handler() {
  const std::uint64_t number = space_;  // a forked child has its parent's there
  (void)memory_.write(rescue_.page + NativeTrapHandler::kSpace, std::as_bytes(std::span(&number, 1)));
  guardian_.hand_handler(space_, rescue_.page);
}

PlantedCode::~PlantedCode() {
  for (auto& [address, site] : sites_) {
    take_off_board(site);
  }
  guardian_.forget_memory(space_);
}

void PlantedCode::take_off_board(Site& site) {
  if (site.place != PlantedBoard::kNowhere) {
    guardian_.planted().remove(std::exchange(site.place, PlantedBoard::kNowhere));
  }
}

Site* PlantedCode::planted_at(Address address) {
  const auto found = sites_.find(address);
  return found != sites_.end() && found->second.planted ? &found->second : nullptr;
}

Site* PlantedCode::site_at(Address address) {
  const auto found = sites_.find(address);
  return found != sites_.end() ? &found->second : nullptr;
}

Site* PlantedCode::lifted_at(Address address) {
  const auto found = sites_.find(address);
  return found != sites_.end() && !found->second.planted ? &found->second : nullptr;
}

bool PlantedCode::was_planted_at(Address address) const { return sites_.contains(address); }

void PlantedCode::set_maps(const std::vector<core::Mapping>& maps) {
  ground_.set(maps);
  maps_are_old_ = false;
}

std::optional<core::Instruction> PlantedCode::decode(Address address) {
  std::array<std::byte, kLongestCode> code;
  const std::size_t size = fetch(address, code);
  return Native::decode(std::span(code).first(size), address);
}

std::size_t PlantedCode::fetch(Address from, std::span<std::byte> into) {
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
const PlantedCode::Page* PlantedCode::page(Address address) {
  const std::uint64_t number = address.value() / kPageSize;
  if (const auto found = pages_.find(number); found != pages_.end()) {
    return found->second.get();
  }
  if (ground_.at(address) != Ground::fixed) {
    return nullptr;
  }
  auto fresh = std::make_shared<Page>();
  if (memory_.read(Address{number * kPageSize}, *fresh) != kPageSize) {
    return nullptr;  // beyond the end of its file
  }
  return (pages_[number] = std::move(fresh)).get();
}

std::optional<Address> PlantedCode::copy_of(const Site& site, pid_t tid) {
  return copies_.copy_of(site.instruction.address, site.code, memory_, rescue_.call, tid);
}

std::optional<Address> PlantedCode::copy_of_sequence(Address from, pid_t tid) {
  std::array<std::byte, Native::kLongestAtomicSequence> code{};
  const std::size_t size = fetch(from, code);
  const OutOfLine::Sequence* const copy =
      copies_.copy_of_sequence(from, std::span(code).first(size), memory_, rescue_.call, tid);
  if (copy == nullptr || !rescue_.handler_is_ours) {
    return std::nullopt;
  }
  for (const Address exit : copy->exits) {
    const auto jump = planted_at(exit) == nullptr ? decode(exit) : std::nullopt;
    if (jump && !write_breakpoint(site_of(*jump))) {
      return std::nullopt;
    }
  }
  return copy->at;
}

std::size_t PlantedCode::sequence_at(Address address) {
  if constexpr (Native::kLongestAtomicSequence > 0) {
    std::array<std::byte, Native::kLongestAtomicSequence> code{};
    const std::span<std::byte> there = std::span(code).first(fetch(address, code));
    const bool can_move = Native::relocate_atomic_sequence(there, address, address).has_value();
    return can_move ? Native::atomic_sequence_length(there) : 0;
  } else {
    return 0;
  }
}

bool PlantedCode::is_in_sequence(Address address) {
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

Site& PlantedCode::site_of(const core::Instruction& instruction) {
  const auto [found, is_new] = sites_.try_emplace(instruction.address);
  Site& site = found->second;
  if (is_new) {
    site.instruction = instruction;
    fetch(instruction.address, site.code);
  }
  return site;
}

bool PlantedCode::plant(Site& site) {
  const Address address = site.instruction.address;
  return plants_ && !unplantable_pages_.contains(address.value() / kPageSize) &&
         write_breakpoint(site);
}

bool PlantedCode::write_breakpoint(Site& site) {
  const Address address = site.instruction.address;
  if (!put_on_board(site)) {
    return false;
  }
  if (!memory_.write(address, Native::kBreakpoint)) {
    guardian_.planted().remove(std::exchange(site.place, PlantedBoard::kNowhere));
    unplantable_pages_.insert(address.value() / kPageSize);
    return false;
  }
  site.number = plantings_++;
  site.planted = true;
  return true;
}

/// It stays there when it is lifted: a child that was forked before, and is not known to the
/// guardian yet, has a breakpoint there still.
bool PlantedCode::put_on_board(Site& site) {
  if (site.place == PlantedBoard::kNowhere) {
    const bool last = site.instruction.flow == core::Flow::syscall;  // see CountedCode::gate()
    site.place = guardian_.planted().add(space_, site.instruction.address, site.code, last);
  }
  return site.place != PlantedBoard::kNowhere;
}

bool PlantedCode::lift(Site& site) {
  const bool written = memory_.write(site.instruction.address,
                                     std::span(site.code).first(Native::kBreakpoint.size()));
  site.planted = false;
  return written;
}

void PlantedCode::restore_all() {
  restore({Address{0}, Address{~std::uint64_t{0}}});
  plants_ = false;
}

void PlantedCode::restore(core::AddressRange range) {
  std::vector<Site*> planted;
  for (auto& [address, site] : sites_) {
    if (site.planted && range.contains(address)) {
      planted.push_back(&site);
    }
  }
  lift_all(std::move(planted));
}

template <typename Change>
bool PlantedCode::rewrite(std::span<Site* const> sites, const Change& change) {
  const Address begin = sites.front()->instruction.address;
  std::array<std::byte, kPageSize + kLongestCode> there;
  const auto span =
      std::span(there).first(sites.back()->instruction.address - begin + kLongestCode);
  const std::size_t size = memory_.read(begin, span);
  std::size_t first = size;  // of what changes
  std::size_t end = 0;
  for (Site* const site : sites) {
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
void for_each_page(std::vector<Site*>& sites, std::uint64_t page_size, const Visit& visit) {
  std::sort(sites.begin(), sites.end(), [](const Site* a, const Site* b) {
    return a->instruction.address < b->instruction.address;
  });
  for (auto first = sites.begin(); first != sites.end();) {
    const std::uint64_t page = (*first)->instruction.address.value() / page_size;
    const auto last = std::find_if(first, sites.end(), [&](const Site* site) {
      return site->instruction.address.value() / page_size != page;
    });
    visit(std::span<Site* const>(first, last), page);
    first = last;
  }
}

}  // namespace

void PlantedCode::lift_all(std::vector<Site*> sites) {
  for_each_page(sites, kPageSize, [this](std::span<Site* const> of_page, std::uint64_t /*page*/) {
    (void)rewrite(of_page, [](const Site& site, std::span<std::byte> there) {
      const bool stands = stands_at(there);
      if (stands) {
        put(site.code, there);
      }
      return stands;
    });
    for (Site* const site : of_page) {
      site->planted = false;
      site->ways = {};
    }
  });
}

void PlantedCode::plant_all(std::vector<Site*> sites) {
  if (!plants_) {
    return;
  }
  std::erase_if(sites, [](const Site* site) { return site->planted; });
  for_each_page(sites, kPageSize, [this](std::span<Site* const> of_page, std::uint64_t page) {
    if (unplantable_pages_.contains(page)) {
      return;
    }
    const auto plant_one = [this](Site& site, std::span<std::byte> there) {
      const std::size_t size = std::min<std::size_t>(site.instruction.length, there.size());
      const bool is_as_expected =
          !stands_at(there) &&
          std::equal(site.code.begin(), site.code.begin() + size, there.begin());
      site.planted = is_as_expected && put_on_board(site);
      if (site.planted) {
        site.number = plantings_++;
        put(Native::kBreakpoint, there);
      }
      return site.planted;
    };
    if (!rewrite(of_page, plant_one)) {
      unplantable_pages_.insert(page);
      for (Site* const site : of_page) {
        take_off_board(*site);
        site->planted = false;
      }
    }
  });
}

void PlantedCode::put_right() {
  std::vector<Site*> all;
  for (auto& [address, site] : sites_) {
    all.push_back(&site);
  }
  for_each_page(all, kPageSize, [this](std::span<Site* const> of_page, std::uint64_t /*page*/) {
    (void)rewrite(of_page, [](const Site& site, std::span<std::byte> there) {
      const bool changes = stands_at(there) != site.planted;
      if (changes) {
        put(site.planted ? std::span<const std::byte>(Native::kBreakpoint) : site.code, there);
      }
      return changes;
    });
  });
}

void PlantedCode::forget_sites(core::AddressRange range) {
  const auto inside = [&range](const auto& entry) { return range.contains(entry.first); };
  for (auto& entry : sites_) {
    if (inside(entry)) {
      take_off_board(entry.second);
    }
    entry.second.ways = {};
  }
  std::erase_if(sites_, inside);
  copies_.forget(range);
  const std::uint64_t first = range.begin.value() / kPageSize;
  const std::uint64_t end = (range.end.value() + kPageSize - 1) / kPageSize;
  const auto is_gone = [&](std::uint64_t number) { return number >= first && number < end; };
  std::erase_if(pages_, [&](const auto& entry) { return is_gone(entry.first); });
  std::erase_if(unplantable_pages_, is_gone);
}

bool turn_back(const PlantedCode& code, pid_t tid, ptrace::Registers registers, int si_code) {
  const Address pc = Native::pc(registers);
  const Address trap = Native::breakpoint_of_trap(pc);
  if (!Native::is_breakpoint_code(si_code) || !code.was_planted_at(trap)) {
    return false;
  }
  (void)ptrace::mark_trap(tid, pc);
  Native::set_pc(registers, trap);
  (void)ptrace::set_registers(tid, registers);  // fails where it was killed
  return true;
}

}  // namespace sp::supervisor
