// Blocks that have no probe because their counts follow from those of others: a part of ProbedCode.
#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "supervisor/instruments/probes/counter_placement.h"
#include "supervisor/instruments/probes/probed_code.h"

namespace sp::supervisor {

using core::Address;

/// What came into a block.
struct ProbedCode::Sum {
  std::uint64_t hits = 0;
  core::TimePoint first = core::TimePoint::max();
  core::TimePoint last;

  void add(std::uint64_t more, core::TimePoint from, core::TimePoint to) {
    hits += more;
    first = std::min(first, from);
    last = std::max(last, to);
  }
};

void ProbedCode::derive(ProbedFunction& function) {
  if (!derives_) {
    return;
  }
  std::vector<FlowBlock> blocks;
  for (const std::uint32_t number : function.blocks) {
    const Block& block = blocks_[number];
    const auto& pads = function.landing_pads;
    const bool tells = block.probe != Address{} && !block.until &&
                       (block.falls_through || block.probe == block.last.address);
    const bool is_entry = block.start == function.bounds.begin ||
                          std::find(pads.begin(), pads.end(), block.start) != pads.end();
    blocks.push_back({block.start, block.size, block.last, block.falls_through, tells, is_entry});
  }
  const auto numbers_of = [&function](const std::vector<std::size_t>& indices) {
    std::vector<std::uint32_t> numbers;
    numbers.reserve(indices.size());
    for (const std::size_t index : indices) {
      numbers.push_back(function.blocks[index]);
    }
    return numbers;
  };
  std::vector<Derived>& derived_blocks = derived_of_[function.number];
  for (const Derived& derived : derived_blocks) {
    blocks_[derived.block].is_derived = false;
  }
  derived_ -= derived_blocks.size();
  derived_blocks.clear();
  for (const DerivableBlock& derivable : find_derivable(blocks)) {
    const std::uint32_t number = function.blocks[derivable.block];
    Block& block = blocks_[number];
    if (block.probe == Address{} || block.until || inserted_at(block.probe) != nullptr) {
      continue;
    }
    Derived derived{number, numbers_of(derivable.from), numbers_of(derivable.before), 0};
    for (const std::uint32_t before : derived.before) {
      derived.seen += blocks_[before].hits;
    }
    block.is_derived = true;
    derived_blocks.push_back(std::move(derived));
  }
  derived_ += derived_blocks.size();
  std::erase(deriving_, function.number);
  if (!derived_blocks.empty()) {
    deriving_.push_back(function.number);
  }
}

void ProbedCode::settle() {
  std::vector<EdgeCounts::Edge> edges = edges_.take();
  std::unordered_map<Address, Sum> into;
  for (const EdgeCounts::Edge& edge : deriving_.empty() ? std::vector<EdgeCounts::Edge>{} : edges) {
    into[edge.to].add(edge.hits, edge.first, edge.last);
  }
  for (const std::uint32_t number : deriving_) {
    for (Derived& derived : derived_of_[number]) {
      Block& block = blocks_[derived.block];
      Sum sum = into[block.start];
      add_fallen_through(derived, sum);
      if (sum.hits == 0) {
        continue;
      }
      block.first_hit = block.hits == 0 ? sum.first : block.first_hit;
      block.last_hit = sum.last;
      block.hits += sum.hits;
      if (!block.falls_through) {
        edges.push_back({block.last.address, *block.last.target, core::EdgeFlow::jump, sum.hits,
                         sum.first, sum.last});
        into[*block.last.target].add(sum.hits, sum.first, sum.last);
      }
    }
  }
  settled_.insert(settled_.end(), edges.begin(), edges.end());
}

void ProbedCode::add_fallen_through(Derived& derived, Sum& sum) {
  std::uint64_t before = 0;
  for (const std::uint32_t number : derived.before) {
    before += blocks_[number].hits;
  }
  if (before <= derived.seen) {
    return;  // less where a hit was taken back
  }
  for (const std::uint32_t number : derived.before) {
    const Block& block = blocks_[number];
    if (block.hits > 0) {
      sum.add(0, block.first_hit, block.last_hit);
    }
  }
  sum.hits += before - std::exchange(derived.seen, before);
}

/// Those that came from a block which is not counted any more are not either.
void ProbedCode::end_derived(ProbedFunction& function, core::TimePoint now) {
  const auto is_over = [this](std::uint32_t number) { return blocks_[number].until.has_value(); };
  std::erase_if(derived_of_[function.number], [&](const Derived& derived) {
    const bool ends = std::any_of(derived.from.begin(), derived.from.end(), is_over);
    if (ends) {
      Block& block = blocks_[derived.block];
      block.until = now;
      block.has_unreported_change = true;
      block.is_derived = false;
    }
    return ends;
  });
}

}  // namespace sp::supervisor
