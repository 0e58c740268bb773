#include "supervisor/instruments/probes/count_propagation.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "supervisor/instruments/probes/counter_placement.h"

namespace sp::supervisor {
namespace {

using core::Address;

std::vector<FlowBlock> flow_of(const ProbedFunction& function, const ProbedBlocks& blocks) {
  const auto& pads = function.landing_pads;
  std::vector<FlowBlock> flow;
  for (const std::uint32_t number : function.blocks) {
    const ProbedBlock& block = blocks[number];
    const bool counts_edges = block.probe != Address{} && !block.until &&
                              (block.falls_through || block.probe == block.last.address);
    const bool is_entry = block.start == function.bounds.begin ||
                          std::find(pads.begin(), pads.end(), block.start) != pads.end();
    flow.push_back(
        {block.start, block.size, block.last, block.falls_through, counts_edges, is_entry});
  }
  return flow;
}

std::vector<std::uint32_t> numbers_of(const std::vector<std::size_t>& indices,
                                      const ProbedFunction& function) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(indices.size());
  for (const std::size_t index : indices) {
    numbers.push_back(function.blocks[index]);
  }
  return numbers;
}

}  // namespace

/// The executions of a block's incoming edges.
struct CountPropagation::Inflow {
  std::uint64_t hits = 0;
  core::TimePoint first = core::TimePoint::max();
  core::TimePoint last;

  void add(std::uint64_t more, core::TimePoint from, core::TimePoint to) {
    hits += more;
    first = std::min(first, from);
    last = std::max(last, to);
  }
};

CountPropagation CountPropagation::forked() const {
  CountPropagation child;
  child.functions_ = functions_;
  child.derived_ = derived_;
  for (Function& function : child.functions_) {
    for (DerivedBlock& derived : function.derived) {
      derived.propagated_hits = 0;
    }
  }
  return child;
}

void CountPropagation::choose_derived(const ProbedFunction& function, ProbedBlocks& blocks,
                                      const HasBreakpoint& has_breakpoint) {
  const auto known = std::find_if(functions_.begin(), functions_.end(), [&](const Function& one) {
    return one.number == function.number;
  });
  if (known != functions_.end()) {
    for (const DerivedBlock& derived : known->derived) {
      blocks[derived.number].is_derived = false;
    }
    derived_ -= known->derived.size();
    functions_.erase(known);
  }
  Function chosen{function.number, function.bounds.begin, {}};
  for (const DerivableBlock& derivable : find_derivable(flow_of(function, blocks))) {
    ProbedBlock& block = blocks[function.blocks[derivable.block]];
    if (block.probe == Address{} || block.until || has_breakpoint(block.probe)) {
      continue;
    }
    DerivedBlock derived{block.number, numbers_of(derivable.predecessors, function),
                         numbers_of(derivable.fallthrough_predecessors, function), 0};
    for (const std::uint32_t predecessor : derived.fallthrough_predecessors) {
      derived.propagated_hits += blocks[predecessor].hits;
    }
    block.is_derived = true;
    chosen.derived.push_back(std::move(derived));
  }
  derived_ += chosen.derived.size();
  if (!chosen.derived.empty()) {
    functions_.push_back(std::move(chosen));
  }
}

void CountPropagation::propagate(std::vector<Edge> counted, ProbedBlocks& blocks) {
  std::unordered_map<Address, Inflow> inflows;
  if (!functions_.empty()) {
    for (const Edge& edge : counted) {
      inflows[edge.to].add(edge.hits, edge.first, edge.last);
    }
  }
  for (Function& function : functions_) {
    for (DerivedBlock& derived : function.derived) {
      ProbedBlock& block = blocks[derived.number];
      Inflow inflow = inflows[block.start];
      add_fallen_through(derived, blocks, inflow);
      if (inflow.hits == 0) {
        continue;
      }
      block.first_hit = block.hits == 0 ? inflow.first : block.first_hit;
      block.last_hit = inflow.last;
      block.hits += inflow.hits;
      if (!block.falls_through) {
        const Address to = *block.last.target;
        counted.push_back(
            {block.last.address, to, core::EdgeFlow::jump, inflow.hits, inflow.first, inflow.last});
        inflows[to].add(inflow.hits, inflow.first, inflow.last);
      }
    }
  }
  edges_.insert(edges_.end(), counted.begin(), counted.end());
}

void CountPropagation::add_fallen_through(DerivedBlock& derived, const ProbedBlocks& blocks,
                                          Inflow& inflow) {
  std::uint64_t hits = 0;
  for (const std::uint32_t number : derived.fallthrough_predecessors) {
    hits += blocks[number].hits;
  }
  if (hits <= derived.propagated_hits) {
    return;  // fewer if a hit was taken back
  }
  for (const std::uint32_t number : derived.fallthrough_predecessors) {
    const ProbedBlock& block = blocks[number];
    if (block.hits > 0) {
      inflow.add(0, block.first_hit, block.last_hit);
    }
  }
  inflow.hits += hits - std::exchange(derived.propagated_hits, hits);
}

void CountPropagation::end_uncounted(const ProbedFunction& function, ProbedBlocks& blocks,
                                     core::TimePoint now) {
  const auto known = std::find_if(functions_.begin(), functions_.end(), [&](const Function& one) {
    return one.number == function.number;
  });
  if (known == functions_.end()) {
    return;
  }
  const auto is_over = [&](std::uint32_t number) { return blocks[number].until.has_value(); };
  std::erase_if(known->derived, [&](const DerivedBlock& derived) {
    const bool ends =
        std::any_of(derived.predecessors.begin(), derived.predecessors.end(), is_over);
    if (ends) {
      ProbedBlock& block = blocks[derived.number];
      block.until = now;
      block.has_unreported_change = true;
      block.is_derived = false;
    }
    return ends;
  });
}

void CountPropagation::forget(core::AddressRange mapped) {
  std::erase_if(functions_, [&](const Function& one) { return mapped.contains(one.begin); });
}

std::vector<CountPropagation::Edge> CountPropagation::take_edges() {
  return std::exchange(edges_, {});
}

}  // namespace sp::supervisor
