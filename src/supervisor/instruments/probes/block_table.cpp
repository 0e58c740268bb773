#include "supervisor/instruments/probes/block_table.h"

#include <algorithm>

namespace sp::supervisor {

using core::Address;
namespace {

/// From the block's start.
std::optional<std::int64_t> leads_to(const ProbedBlock& block) {
  const auto& target = block.last.target;
  return target ? std::optional(static_cast<std::int64_t>(target->value() - block.start.value()))
                : std::nullopt;
}

}  // namespace

BlockTable BlockTable::forked(bool tells_all) const {
  BlockTable table = *this;
  for (ProbedBlock& block : table.blocks_) {
    block.hits = 0;
    block.reported_hits = 0;
    block.executions = 0;
    block.hotness = 0;
    block.since.reset();
    block.edges_until.reset();
    block.is_jumped_to = false;
    block.is_copied = false;
    block.has_unreported_change = block.has_unreported_change && tells_all;
  }
  return table;
}

void BlockTable::update(ProbedFunction& function, const core::ControlFlowGraph& map,
                        std::optional<core::TimePoint> since, const ChooseProbe& choose_probe) {
  std::vector<std::uint32_t> known = function.blocks;
  std::sort(known.begin(), known.end(), [this](std::uint32_t a, std::uint32_t b) {
    return blocks_[a].start < blocks_[b].start;
  });
  for (const core::BasicBlock& mapped : map.blocks) {
    if (starting_at(mapped.start) != nullptr) {
      continue;
    }
    const auto above = std::upper_bound(
        known.begin(), known.end(), mapped.start,
        [this](Address start, std::uint32_t n) { return start < blocks_[n].start; });
    const ProbedBlock* split = nullptr;
    if (above != known.begin()) {
      const ProbedBlock& below = blocks_[*(above - 1)];
      const bool is_within = mapped.start < below.start + below.size && !mapped.is_unlocked;
      split = is_within ? &below : nullptr;
    }
    add(function, mapped.start, split, since);
  }
  for (const core::BasicBlock& mapped : map.blocks) {
    update(blocks_[by_start_.find(mapped.start)], mapped, choose_probe);
  }
}

void BlockTable::add(ProbedFunction& function, Address start, const ProbedBlock* split,
                     std::optional<core::TimePoint> since) {
  ProbedBlock block;
  block.number = static_cast<std::uint32_t>(blocks_.size());
  block.function = function.number;
  block.start = start;
  block.since = since;
  if (split != nullptr) {
    // Until now every execution of that block went on through this one.
    block.hits = split->hits;
    block.executions = split->executions;
    block.first_hit = split->first_hit;
    block.last_hit = split->last_hit;
    block.since = split->since;
    block.until = split->until;
    block.edges_until = split->edges_until;
    block.is_reached = split->is_reached;
    block.is_known = split->is_known;
  }
  (void)by_start_.add(start, block.number);
  function.blocks.push_back(block.number);
  blocks_.push_back(block);
}

void BlockTable::update(ProbedBlock& block, const core::BasicBlock& mapped,
                        const ChooseProbe& choose_probe) {
  std::uint32_t size = 0;
  for (const std::uint8_t length : mapped.lengths) {
    size += length;
  }
  if (size == block.size) {
    return;
  }
  block.size = size;
  block.instructions = static_cast<std::uint32_t>(mapped.lengths.size());
  block.last = mapped.last;
  block.falls_through = mapped.falls_through;
  block.is_unlocked = mapped.is_unlocked;
  block.is_cut = mapped.is_cut;
  block.has_unreported_change = true;
  block.probe = choose_probe(mapped);
}

void BlockTable::forget(core::AddressRange mapped) {
  for (ProbedBlock& block : blocks_) {
    if (mapped.contains(block.start)) {
      block.probe = Address{};
      block.is_unlocked = false;
      block.is_copied = false;
    }
  }
  by_start_.erase(mapped);
}

core::ControlFlowGraph BlockTable::with_cuts(core::ControlFlowGraph graph) const {
  for (core::BasicBlock& block : graph.blocks) {
    const ProbedBlock* const known = starting_at(block.start);
    block.is_cut = block.is_cut || (known != nullptr && known->is_cut);
  }
  return graph;
}

const ProbedBlock* BlockTable::starting_at(Address address) const {
  const std::uint32_t found = by_start_.find(address);
  return found == core::AddressIndex::kNone ? nullptr : &blocks_[found];
}

bool BlockTable::has_block_around(Address address, const ProbedFunction& function) const {
  return std::any_of(function.blocks.begin(), function.blocks.end(), [&](std::uint32_t number) {
    const ProbedBlock& block = blocks_[number];
    return core::AddressRange{block.start, block.start + block.size}.contains(address);
  });
}

void BlockTable::count_unlocked(Address start, core::TimePoint now) {
  const ProbedBlock* const block = starting_at(start);
  if (block != nullptr && block->is_unlocked && !block->until) {
    blocks_[block->number].add_hit(now);
  }
}

void BlockTable::end_unlocked(const ProbedFunction& function, core::TimePoint now) {
  for (const std::uint32_t number : function.blocks) {
    const ProbedBlock& branch = blocks_[number];
    const ProbedBlock* const to = branch.until && branch.last.flow == core::Flow::branch
                                      ? starting_at(*branch.last.target)
                                      : nullptr;
    if (to != nullptr && to->is_unlocked && !to->until) {
      blocks_[to->number].until = now;
      blocks_[to->number].has_unreported_change = true;
    }
  }
}

void BlockTable::begin_copied(ProbedBlock& block, const ProbedFunction& function,
                              core::TimePoint now) {
  if (block.probe != Address{} || block.is_unlocked) {
    return;
  }
  block.is_copied = true;
  const bool has_run =
      std::any_of(function.blocks.begin(), function.blocks.end(),
                  [this](std::uint32_t number) { return blocks_[number].executions > 0; });
  if (has_run) {
    block.since = now;
  }
}

void BlockTable::end_copied(const ProbedFunction& function, core::TimePoint now) {
  for (const std::uint32_t number : function.blocks) {
    ProbedBlock& block = blocks_[number];
    if (block.is_copied && !block.until) {
      block.until = now;
      block.has_unreported_change = true;
    }
  }
}

std::vector<core::ProbedBlock<Address>> BlockTable::take_changes() {
  std::vector<core::ProbedBlock<Address>> changes;
  for (ProbedBlock& block : blocks_) {
    const bool has_changed = block.hits != block.reported_hits || block.has_unreported_change;
    const bool is_counted = block.probe != Address{} || block.is_unlocked || block.is_copied;
    if (!is_counted || !has_changed) {
      continue;
    }
    changes.push_back({block.start, block.size, block.instructions,
                       static_cast<std::uint32_t>(block.last.address - block.start),
                       block.falls_through, block.hits - block.reported_hits, block.first_hit,
                       block.last_hit, block.since, block.until, block.edges_until,
                       block.is_jumped_to, block.is_known, block.last.flow, leads_to(block)});
    block.reported_hits = block.hits;
    block.has_unreported_change = false;
  }
  return changes;
}

}  // namespace sp::supervisor
