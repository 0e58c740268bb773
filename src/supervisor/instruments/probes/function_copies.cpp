#include "supervisor/instruments/probes/function_copies.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "supervisor/breakpoints/edge_flow.h"

namespace sp::supervisor {
namespace {

constexpr std::uint64_t kCounterSize = sizeof(std::uint64_t);

/// Its executions tell how often it was left.
bool has_only_fallthrough(const ProbedBlock& block) {
  return block.falls_through || block.last.flow == core::Flow::stop;
}

bool has_jump_at(const core::FunctionCopy& copy, core::Address block) {
  const auto landing =
      std::lower_bound(copy.landings.begin(), copy.landings.end(), block,
                       [](const core::CopyLanding& one, core::Address at) { return one.at < at; });
  return landing != copy.landings.end() && landing->leader() == block &&
         landing->form == core::CopyLanding::Form::jump;
}

}  // namespace

void FunctionCopies::begin(ProbedFunction& function, CopiedFunctions::Copy copy, BlockTable& blocks,
                           const CopyBegin& how) {
  Counters counters;
  counters.of_branches = copy->counters - static_cast<std::uint32_t>(copy->blocks.size());
  for (const core::CopiedBlock& copied : copy->blocks) {
    const auto index = static_cast<std::uint32_t>(counters.all.size());
    if (index == 0) {
      counters.first = copied.counter;
    }
    const ProbedBlock* const known = blocks.starting_at(copied.start);
    const bool is_left_out = how.counts_entry_alone && copied.start != function.bounds.begin;
    if (known == nullptr || known->until || is_left_out) {
      counters.all.push_back({.block = kNoBlock});
      continue;
    }
    ProbedBlock& block = blocks[known->number];
    constexpr std::uint64_t kOfCall = 2;  // of its entry, and of how it ends
    const bool is_arrival = has_jump_at(*copy, copied.start) && !copied.is_dispatched;
    counters.all.push_back({.block = block.number,
                            .is_arrival = is_arrival,
                            .emulates_call = copied.emulates_call,
                            .counts_transfer = copied.counts_transfer,
                            .saves_flags = copied.saves_flags,
                            .events = how.counts_entry_alone ? kOfCall : 0});
    block.has_unreported_change = true;
    blocks.begin_copied(block, function, how.at);
    if (how.counts_entry_alone || block.edges_until || has_only_fallthrough(block)) {
      continue;
    }
    // A probe elsewhere in the block has counted no edges.
    const bool knows_edges = block.probe == block.last.address || block.hits == 0;
    auto ways = knows_edges ? find_ways(*copy, index, block) : std::nullopt;
    if (ways) {
      counters.ways.push_back(*ways);
    } else if (!knows_edges || !copied.counts_transfer) {
      block.edges_until = how.at;
    }
  }
  add_tables(*copy, blocks, counters);
  function_at_[counters.first] = function.number;
  counters_[function.number] = std::move(counters);
  function.state = ProbedFunction::State::copied;
  copies_.add(std::move(copy));
}

void FunctionCopies::end(ProbedFunction& function) {
  function.state = ProbedFunction::State::instrumented;
  if (const auto ended = counters_.find(function.number); ended != counters_.end()) {
    // Its counters will be those of other copies.
    const Counters& counters = ended->second;
    for (std::size_t i = 0; i < counters.all.size() + counters.of_branches; ++i) {
      corrections_.erase(counters.first + kCounterSize * i);
    }
    function_at_.erase(counters.first);
    counters_.erase(ended);
  }
  copies_.remove(function.bounds.begin);
}

void FunctionCopies::come_to_rest(const ProbedFunction& function) {
  if (const auto counters = counters_.find(function.number); counters != counters_.end()) {
    counters->second.is_still = true;
  }
}

void FunctionCopies::correct(const CountCorrection& correction) {
  Correction& sum = corrections_[correction.counter];
  sum.executions += correction.executions;
  sum.arrivals += correction.arrivals;
  sum.departures += correction.departures;
  if (correction.branch != 0) {
    ++corrections_[correction.branch].executions;
  }
  if (correction.entry != 0) {
    --corrections_[correction.entry].executions;
  }
}

void FunctionCopies::note_arrival(const core::FunctionCopy& copy, core::Address leader) {
  const auto block = copy.block_of(leader);
  if (block && copy.blocks[*block].start == leader) {
    ++corrections_[copy.blocks[*block].counter].arrivals;
  }
}

void FunctionCopies::end_edges_of(const core::FunctionCopy& copy, core::Address pc,
                                  BlockTable& blocks, core::TimePoint now) {
  const auto index = copy.block_of(pc);
  const ProbedBlock* const known = index ? blocks.starting_at(copy.blocks[*index].start) : nullptr;
  if (known == nullptr || known->edges_until || has_only_fallthrough(*known)) {
    return;
  }
  blocks[known->number].edges_until = now;
  blocks[known->number].has_unreported_change = true;
  if (const auto counters = counters_.find(known->function); counters != counters_.end()) {
    std::erase_if(counters->second.ways,
                  [&](const CopiedWays& ways) { return ways.block == *index; });
    std::erase_if(counters->second.tables,
                  [&](const Entries& entries) { return entries.block == known->number; });
  }
}

void FunctionCopies::add_transfers(std::span<const CounterSlots::Transfers> transfers,
                                   const BlockTable& blocks, core::TimePoint now) {
  for (const CounterSlots::Transfers& one : transfers) {
    const auto after = function_at_.upper_bound(one.site);
    if (after == function_at_.begin()) {
      continue;
    }
    const Counters& counters = counters_.at(std::prev(after)->second);
    const std::uint64_t index = (one.site - counters.first) / kCounterSize;
    const std::uint32_t number = index < counters.all.size() ? counters.all[index].block : kNoBlock;
    if (number == kNoBlock) {
      continue;
    }
    const core::Instruction& last = blocks[number].last;
    EdgeCounts::Edge& edge = edges_.at(last.address, one.target, edge_flow(last, one.target));
    if (one.count > 0) {
      if (edge.last == core::TimePoint{}) {
        new_targets_.insert(one.target);
      }
      EdgeCounts::count(edge, now, static_cast<std::uint64_t>(one.count));
    } else {
      edge.hits -= std::min(edge.hits, static_cast<std::uint64_t>(-one.count));
    }
  }
}

void FunctionCopies::end_transfers(BlockTable& blocks, core::TimePoint seen) {
  for (auto& [function, counters] : counters_) {
    for (const Counter& counter : counters.all) {
      if (counter.counts_transfer && counter.block != kNoBlock &&
          !blocks[counter.block].edges_until) {
        blocks[counter.block].edges_until = seen;
        blocks[counter.block].has_unreported_change = true;
      }
    }
    std::erase_if(counters.tables, [&blocks](const Entries& entries) {
      return blocks[entries.block].edges_until.has_value();
    });
  }
}

FunctionCopies::Correction FunctionCopies::correction_of(std::uint64_t counter) const {
  const auto found = corrections_.find(counter);
  return found != corrections_.end() ? found->second : Correction{};
}

std::uint64_t FunctionCopies::add(ProbedBlock& block, Counter& counter, std::uint64_t value,
                                  core::TimePoint now) {
  // A thread that has been counted, and will be once more by the copy, may have taken one off.
  const auto more = static_cast<std::int64_t>(value - counter.taken);
  if (more <= 0) {
    return 0;
  }
  counter.taken = value;
  const auto executions = static_cast<std::uint64_t>(more);
  if (block.hits == 0) {
    block.first_hit = now;
  }
  block.last_hit = now;
  block.hits += executions;
  block.executions += executions;
  return executions;
}

CopyUse FunctionCopies::collect(BlockTable& blocks, const ReadCounters& read, core::TimePoint now,
                                std::uint64_t in_blocks) {
  std::vector<std::uint64_t> arrivals;
  std::vector<std::pair<Counters*, CopyUse>> uses;
  for (auto& [function, counters] : counters_) {
    const auto size = static_cast<std::uint32_t>(counters.all.size()) + counters.of_branches;
    auto values = read(counters.first, size);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Correction correction = correction_of(counters.first + kCounterSize * i);
      values[i] += static_cast<std::uint64_t>(std::int64_t{correction.executions});
    }
    uses.emplace_back(&counters, collect(counters, values, blocks, arrivals, now));
    collect_edges(counters, values, now, counters.is_still ? 0 : in_blocks);
    collect_tables(counters, values, now);
  }
  const CopyPrices prices(std::move(arrivals));
  CopyUse sum;
  for (auto& [counters, use] : uses) {
    use.cost = prices.cost(use);
    counters->recent += use;
    sum += use;
  }
  return sum;
}

CopyUse FunctionCopies::collect(Counters& counters, std::span<const std::uint64_t> values,
                                BlockTable& blocks, std::vector<std::uint64_t>& arrivals,
                                core::TimePoint now) {
  CopyUse use;
  for (std::size_t i = 0; i < counters.all.size() && i < values.size(); ++i) {
    Counter& counter = counters.all[i];
    if (counter.block == kNoBlock) {
      continue;
    }
    const std::uint64_t more = add(blocks[counter.block], counter, values[i], now);
    use.executions += more;
    use.emulated_calls += counter.emulates_call ? more : 0;
    if (!counter.has_table) {
      use.transfers += counter.counts_transfer ? more : 0;
      use.transfers_with_flags += counter.saves_flags ? more : 0;
    }
    use.events += counter.events * more;
    if (counter.is_arrival && more > 0) {
      use.arrivals += more;
      arrivals.push_back(more);
    }
  }
  const std::uint64_t branches =
      std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(counters.all.size()),
                      values.end(), std::uint64_t{0});
  use.branches = branches - std::min(branches, std::exchange(counters.branches, branches));
  return use;
}

/// Threads count while this is read, a block's executions first and which way they went later. So
/// what is left for the other way is too little rather than too much.
void FunctionCopies::collect_edges(Counters& counters, std::span<const std::uint64_t> values,
                                   core::TimePoint now, std::uint64_t in_blocks) {
  for (CopiedWays& ways : counters.ways) {
    const auto counter_of = [&](std::uint32_t index) {
      return counters.first + kCounterSize * index;
    };
    const auto value_of = [&](std::uint32_t index) {
      return static_cast<std::int64_t>(values[index]);
    };
    std::int64_t left = value_of(ways.block) + correction_of(counter_of(ways.block)).departures;
    if (ways.size > 1) {
      std::int64_t first = value_of(ways.branch);
      if (ways.is_by_block) {
        first -= correction_of(counter_of(ways.branch)).arrivals;
      }
      add(ways.from, ways.ways[0], first, now);
      left -= first;
    }
    add(ways.from, ways.ways[ways.size - 1], left - static_cast<std::int64_t>(in_blocks), now);
  }
}

void FunctionCopies::add(core::Address from, CopiedWays::Way& way, std::int64_t count,
                         core::TimePoint now) {
  const std::int64_t more = count - static_cast<std::int64_t>(way.taken);
  if (more <= 0) {
    return;
  }
  way.taken = static_cast<std::uint64_t>(count);
  EdgeCounts::count(edges_.at(from, way.to, way.flow), now, static_cast<std::uint64_t>(more));
}

std::vector<FunctionCopies::FunctionUse> FunctionCopies::take_uses() {
  std::vector<FunctionUse> uses;
  for (auto& [function, counters] : counters_) {
    uses.push_back({function, std::exchange(counters.recent, {})});
  }
  return uses;
}

}  // namespace sp::supervisor
