#include "supervisor/counted_code.h"

#include <algorithm>
#include <cstring>

#include "arch/native.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

// Code that only looks like code (a page of zeros) does not make a run without end.
constexpr std::size_t kLongestRun = 100'000;

}  // namespace

CountedCode::CountedCode(core::ProcessId owner, pid_t tid, bool plants, Guardian& guardian)
    : guardian_(guardian),
      space_(guardian.planted().new_space()),
      owner_(owner),
      plants_(plants),
      memory_(tid) {
  (void)guardian_.hand_memory(space_, memory_.fd());
}

CountedCode::CountedCode(core::ProcessId owner, pid_t tid, const CountedCode& parent,
                         std::uint64_t certain)
    : guardian_(parent.guardian_),
      space_(guardian_.planted().new_space()),
      owner_(owner),
      plants_(parent.plants_),
      rescue_(parent.rescue_),
      memory_(tid),
      pages_(parent.pages_),
      unplantable_pages_(parent.unplantable_pages_),
      sites_(parent.sites_),
      came_back_to_(parent.came_back_to_),
      plantings_(parent.plantings_) {
  (void)guardian_.hand_memory(space_, memory_.fd());
  if (rescue_.page != Address{}) {
    tell_guardian_of_handler();
  }
  for (auto& [address, site] : sites_) {
    site.ways = {};
    if (site.planted) {
      site.place = guardian_.planted().add(space_, address, site.code);
    }
    if (site.planted && site.number >= certain) {
      (void)memory_.write(address, Native::kBreakpoint);
    }
  }
}

CountedCode::~CountedCode() {
  for (auto& [address, site] : sites_) {
    take_off_board(site);
  }
  guardian_.forget_memory(space_);
}

void CountedCode::take_off_board(Site& site) {
  if (site.planted) {
    guardian_.planted().remove(std::exchange(site.place, PlantedBoard::kNowhere));
  }
}

Site* CountedCode::planted_at(Address address) {
  const auto found = sites_.find(address);
  return found != sites_.end() && found->second.planted ? &found->second : nullptr;
}

Site* CountedCode::lifted_at(Address address) {
  const auto found = sites_.find(address);
  return found != sites_.end() && !found->second.planted ? &found->second : nullptr;
}

bool CountedCode::was_planted_at(Address address) const { return sites_.contains(address); }

void CountedCode::set_maps(const std::vector<core::Mapping>& maps) {
  ground_.set(maps);
  maps_are_old_ = false;
}

Run* CountedCode::find(Address start) {
  const auto found = runs_.find(start);
  return found == runs_.end() ? nullptr : &found->second;
}

Run& CountedCode::arrive(Address start) {
  const auto [found, is_new] = runs_.try_emplace(start);
  Run& run = found->second;
  if (is_new) {
    run.behind = start;
    extend(run, start);
    return run;
  }
  if (run.stepped && ground_.at(start) == Ground::shifting) {
    Run now;  // it may be other code by now
    now.behind = start;
    extend(now, start);
    if (now.lengths != run.lengths) {
      run = std::move(now);
    }
  }
  return run;
}

bool CountedCode::come_back(Address address) {
  if (came_back_to_.insert(address).second) {
    const auto [begin, end] = open_.equal_range(address);
    const std::vector<std::pair<Address, Address>> waiting(begin, end);
    open_.erase(address);
    for (const auto& [behind, start] : waiting) {
      const auto run = runs_.find(start);
      if (run != runs_.end() && run->second.end == Run::End::call && run->second.behind == behind) {
        extend(run->second, start);
      }
    }
  }
  return !plants_ || ground_.at(address) != Ground::fixed;
}

/// Goes on with a run from where it ends so far.
void CountedCode::extend(Run& run, Address start) {
  run.told = false;
  untold_.push_back(start);
  run.end = Run::End::nowhere;
  run.stepped = run.stepped || !plants_;
  while (run.lengths.size() < kLongestRun) {
    const auto instruction = decode(run.behind);
    if (!instruction) {
      break;
    }
    run.stepped = run.stepped || ground_.at(run.behind) != Ground::fixed;
    run.lengths.push_back(instruction->length);
    run.last = instruction->address;
    run.behind = instruction->next();
    if (core::ends_block(instruction->flow)) {
      run.end = Run::End::transfer;
      // What traps or halts needs no breakpoint: it stops by itself.
      if (!run.stepped && instruction->flow != core::Flow::stop && !plant_at(*instruction)) {
        run.stepped = true;
      }
      return;
    }
    if (instruction->flow == core::Flow::syscall && !came_back_to_.contains(run.behind)) {
      run.end = Run::End::call;
      open_.emplace(run.behind, start);
      return;
    }
  }
  run.stepped = true;
}

std::optional<core::Instruction> CountedCode::decode(Address address) {
  std::array<std::byte, kLongestCode> code;
  const std::size_t size = fetch(address, code);
  return Native::decode(std::span(code).first(size), address);
}

std::size_t CountedCode::fetch(Address from, std::span<std::byte, kLongestCode> into) {
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
const CountedCode::Page* CountedCode::page(Address address) {
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

bool CountedCode::plant_at(const core::Instruction& instruction) {
  const auto [found, is_new] = sites_.try_emplace(instruction.address);
  Site& site = found->second;
  if (is_new) {
    site.instruction = instruction;
    fetch(instruction.address, site.code);
  }
  return site.planted || plant(site);
}

bool CountedCode::plant(Site& site) {
  const Address address = site.instruction.address;
  if (!plants_ || unplantable_pages_.contains(address.value() / kPageSize)) {
    return false;
  }
  site.place = guardian_.planted().add(space_, address, site.code);
  if (site.place == PlantedBoard::kNowhere) {
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

bool CountedCode::lift(Site& site) {
  const bool written = memory_.write(site.instruction.address,
                                     std::span(site.code).first(Native::kBreakpoint.size()));
  take_off_board(site);
  site.planted = false;
  return written;
}

void CountedCode::restore_all() {
  restore({Address{0}, Address{~std::uint64_t{0}}});
  plants_ = false;
}

void CountedCode::restore(core::AddressRange range) {
  std::vector<Address> planted;
  for (const auto& [address, site] : sites_) {
    if (site.planted && range.contains(address)) {
      planted.push_back(address);
    }
  }
  std::sort(planted.begin(), planted.end());
  // A page at a time: what stands between two breakpoints is text, which nobody else writes.
  for (auto first = planted.begin(); first != planted.end();) {
    const std::uint64_t number = first->value() / kPageSize;
    const auto last = std::find_if(first, planted.end(), [number](Address address) {
      return address.value() / kPageSize != number;
    });
    const Page& original = *page(*first);
    const Address end = *(last - 1) + Native::kBreakpoint.size();
    (void)memory_.write(*first,
                        std::span(original).subspan(first->value() % kPageSize, end - *first));
    for (; first != last; ++first) {
      Site& site = sites_.at(*first);
      take_off_board(site);
      site.planted = false;
      site.ways = {};
    }
  }
}

void CountedCode::forget(core::AddressRange range) {
  const auto inside = [&range](const auto& entry) { return range.contains(entry.first); };
  for (auto& entry : sites_) {
    if (inside(entry)) {
      take_off_board(entry.second);
    }
  }
  std::erase_if(sites_, inside);
  std::erase_if(runs_, inside);
  std::erase_if(open_, inside);
  std::erase_if(came_back_to_, [&range](Address address) { return range.contains(address); });
  std::erase_if(untold_, [&range](Address address) { return range.contains(address); });
  const std::uint64_t first = range.begin.value() / kPageSize;
  const std::uint64_t end = (range.end.value() + kPageSize - 1) / kPageSize;
  const auto is_gone = [&](std::uint64_t number) { return number >= first && number < end; };
  std::erase_if(pages_, [&](const auto& entry) { return is_gone(entry.first); });
  std::erase_if(unplantable_pages_, is_gone);
  for (auto& [address, site] : sites_) {
    site.ways = {};
  }
  edges_.clear();
}

core::CodeCounted CountedCode::take() {
  core::CodeCounted counted;
  counted.edges = edges_.take();
  for (const Address start : std::exchange(untold_, {})) {
    const auto found = runs_.find(start);
    if (found == runs_.end() || std::exchange(found->second.told, true) ||
        found->second.lengths.empty()) {
      continue;
    }
    counted.runs.push_back({start, found->second.lengths});
  }
  return counted;
}

}  // namespace sp::supervisor
