#include "supervisor/instruments/exact/counted_code.h"

#include <algorithm>

#include "arch/native.h"

namespace sp::supervisor {
namespace {

using core::Address;

// Code that only looks like code (a page of zeros) does not make a run without end.
constexpr std::size_t kLongestRun = 100'000;

}  // namespace

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
  if (run.stepped && ground().at(start) == Ground::shifting) {
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
  return !plants() || ground().at(address) != Ground::fixed;
}

/// Goes on with a run from where it ends so far.
void CountedCode::extend(Run& run, Address start) {
  run.told = false;
  untold_.push_back(start);
  run.end = Run::End::nowhere;
  run.stepped = run.stepped || !plants();
  while (run.lengths.size() < kLongestRun) {
    const auto instruction = decode(run.behind);
    if (!instruction) {
      break;
    }
    run.stepped = run.stepped || ground().at(run.behind) != Ground::fixed;
    if (extend_by_sequence(run, *instruction)) {
      return;
    }
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

/// A sequence that must not be stopped within is done in a copy, and ends a run.
bool CountedCode::extend_by_sequence(Run& run, const core::Instruction& first) {
  const std::size_t length = sequence_at(first.address);
  if (length == 0) {
    return false;
  }
  const Address end = first.address + length;
  while (run.behind < end) {
    run.lengths.push_back(first.length);
    run.last = run.behind;
    run.behind = run.behind + first.length;
  }
  run.end = Run::End::transfer;
  run.stepped = run.stepped || !plant_at(first);
  return true;
}

bool CountedCode::plant_at(const core::Instruction& instruction) {
  Site& site = site_of(instruction);
  return site.planted || plant(site);
}

void CountedCode::gate(Address behind) {
  constexpr auto& kSyscall = arch::NativeTrapHandler::kSyscall;
  const Address at = behind - kSyscall.size();
  if (!plants() || ground().at(at) != Ground::fixed || !gates_.insert(at).second) {
    return;
  }
  const auto instruction = decode(at);
  if (instruction && instruction->flow == core::Flow::syscall && instruction->next() == behind) {
    Site& site = site_of(*instruction);
    if (std::equal(kSyscall.begin(), kSyscall.end(), site.code.begin())) {
      (void)plant(site);
    }
  }
}

void CountedCode::forget(core::AddressRange range) {
  forget_sites(range);
  const auto inside = [&range](const auto& entry) { return range.contains(entry.first); };
  std::erase_if(runs_, inside);
  std::erase_if(open_, inside);
  std::erase_if(came_back_to_, [&range](Address address) { return range.contains(address); });
  std::erase_if(gates_, [&range](Address address) { return range.contains(address); });
  std::erase_if(untold_, [&range](Address address) { return range.contains(address); });
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
