#include "supervisor/instruments/exact/counted_code.h"

#include <algorithm>

#include "arch/native.h"
#include "supervisor/breakpoints/atomic_sequences.h"

namespace sp::supervisor {
namespace {

using core::Address;

// Bytes that only look like code (a page of zeros) do not make an endless block.
constexpr std::size_t kLongestBlock = 100'000;

}  // namespace

DynamicBlock* CountedCode::find(Address start) {
  const auto found = blocks_.find(start);
  return found == blocks_.end() ? nullptr : &found->second;
}

DynamicBlock& CountedCode::discover(Address start) {
  const auto [found, is_new] = blocks_.try_emplace(start);
  DynamicBlock& block = found->second;
  if (is_new) {
    block.end_address = start;
    extend(block, start);
    return block;
  }
  if (block.stepped && regions().at(start) == CodeKind::writable) {
    DynamicBlock now;  // the code may have changed
    now.end_address = start;
    extend(now, start);
    if (now.lengths != block.lengths) {
      block = std::move(now);
    }
  }
  return block;
}

bool CountedCode::extend_after_syscall(Address address) {
  if (returned_to_.insert(address).second) {
    const auto [begin, end] = open_.equal_range(address);
    const std::vector<std::pair<Address, Address>> waiting(begin, end);
    open_.erase(address);
    for (const auto& [next, start] : waiting) {
      const auto found = blocks_.find(start);
      if (found != blocks_.end() && found->second.end == DynamicBlock::End::syscall &&
          found->second.end_address == next) {
        extend(found->second, start);
      }
    }
  }
  return !may_insert() || regions().at(address) != CodeKind::file_backed;
}

/// Continues a block from where it ends so far.
void CountedCode::extend(DynamicBlock& block, Address start) {
  block.reported = false;
  unreported_.push_back(start);
  block.end = DynamicBlock::End::unknown;
  block.stepped = block.stepped || !may_insert();
  while (block.lengths.size() < kLongestBlock) {
    const auto instruction = decode(block.end_address);
    if (!instruction) {
      break;
    }
    block.stepped = block.stepped || regions().at(block.end_address) != CodeKind::file_backed;
    if (extend_by_sequence(block, *instruction)) {
      return;
    }
    block.lengths.push_back(instruction->length);
    block.last = instruction->address;
    block.end_address = instruction->next();
    if (core::ends_block(instruction->flow)) {
      block.end = DynamicBlock::End::transfer;
      // An instruction that traps or halts needs no breakpoint.
      if (!block.stepped && instruction->flow != core::Flow::stop && !insert_at(*instruction)) {
        block.stepped = true;
      }
      return;
    }
    if (instruction->flow == core::Flow::syscall && !returned_to_.contains(block.end_address)) {
      block.end = DynamicBlock::End::syscall;
      open_.emplace(block.end_address, start);
      return;
    }
  }
  block.stepped = true;
}

/// An atomic sequence (LL/SC) is executed in a copy, and ends a block.
bool CountedCode::extend_by_sequence(DynamicBlock& block, const core::Instruction& first) {
  const std::size_t length = sequence_at(*this, first.address);
  if (length == 0) {
    return false;
  }
  const Address end = first.address + length;
  while (block.end_address < end) {
    block.lengths.push_back(first.length);
    block.last = block.end_address;
    block.end_address = block.end_address + first.length;
  }
  block.end = DynamicBlock::End::transfer;
  block.stepped = block.stepped || !insert_at(first);
  return true;
}

bool CountedCode::insert_at(const core::Instruction& instruction) {
  BreakpointSite& site = site_of(instruction);
  return site.inserted || insert(site);
}

void CountedCode::insert_gate(Address next) {
  constexpr auto& kSyscall = arch::NativeTrapHandler::kSyscall;
  const Address at = next - kSyscall.size();
  if (!may_insert() || regions().at(at) != CodeKind::file_backed || !gates_.insert(at).second) {
    return;
  }
  const auto instruction = decode(at);
  if (instruction && instruction->flow == core::Flow::syscall && instruction->next() == next) {
    BreakpointSite& site = site_of(*instruction);
    if (std::equal(kSyscall.begin(), kSyscall.end(), site.code.begin())) {
      (void)insert(site);
    }
  }
}

void CountedCode::forget(core::AddressRange range) {
  forget_blocks(range);
  std::erase_if(returned_to_, [&range](Address address) { return range.contains(address); });
}

void CountedCode::forget_blocks(core::AddressRange range) {
  forget_sites(range);
  const auto inside = [&range](const auto& entry) { return range.contains(entry.first); };
  std::erase_if(blocks_, inside);
  std::erase_if(open_, inside);
  std::erase_if(gates_, [&range](Address address) { return range.contains(address); });
  std::erase_if(unreported_, [&range](Address address) { return range.contains(address); });
  edges_.clear();
}

bool CountedCode::forget_written(core::AddressRange written) {
  const core::AddressRange range = with_whole_blocks(written);
  const bool had_breakpoints = !inserted_in(range).empty();
  restore(range);
  remember_removed(range);
  forget_blocks(range);
  times_written_ += had_breakpoints ? 1 : 0;
  return had_breakpoints;
}

core::AddressRange CountedCode::with_whole_blocks(core::AddressRange range) const {
  for (bool grows = true; std::exchange(grows, false);) {
    for (const auto& [start, block] : blocks_) {
      const bool overlaps = start < range.end && range.begin < block.end_address;
      if (overlaps && (start < range.begin || range.end < block.end_address)) {
        range = {std::min(start, range.begin), std::max(block.end_address, range.end)};
        grows = true;
      }
    }
  }
  return range;
}

core::CodeCounted CountedCode::take() {
  core::CodeCounted counted;
  counted.edges = edges_.take();
  for (const Address start : std::exchange(unreported_, {})) {
    const auto found = blocks_.find(start);
    if (found == blocks_.end() || std::exchange(found->second.reported, true) ||
        found->second.lengths.empty()) {
      continue;
    }
    counted.runs.push_back({start, found->second.lengths});
  }
  return counted;
}

}  // namespace sp::supervisor
