#include "supervisor/instruments/probes/function_copies.h"

#include <algorithm>
#include <utility>

namespace sp::supervisor {
namespace {

bool has_jump_at(const core::FunctionCopy& copy, core::Address block) {
  const auto landing =
      std::lower_bound(copy.landings.begin(), copy.landings.end(), block,
                       [](const core::CopyLanding& one, core::Address at) { return one.at < at; });
  return landing != copy.landings.end() && landing->at == block &&
         landing->form == core::CopyLanding::Form::jump;
}

}  // namespace

void FunctionCopies::begin(ProbedFunction& function, CopiedFunctions::Copy copy, BlockTable& blocks,
                           core::TimePoint now) {
  Counters counters;
  for (const core::CopiedBlock& copied : copy->blocks) {
    if (counters.all.empty()) {
      counters.first = copied.counter;
    }
    const ProbedBlock* const known = blocks.starting_at(copied.start);
    if (known == nullptr || known->until) {
      counters.all.push_back({0, kNoBlock, false, false});
      continue;
    }
    ProbedBlock& block = blocks[known->number];
    counters.all.push_back(
        {0, block.number, has_jump_at(*copy, copied.start), copied.emulates_call});
    if (!block.edges_until) {
      block.edges_until = now;
    }
    block.has_unreported_change = true;
  }
  counters_[function.number] = std::move(counters);
  function.state = ProbedFunction::State::copied;
  copies_.add(std::move(copy));
}

void FunctionCopies::end(ProbedFunction& function) {
  function.state = ProbedFunction::State::instrumented;
  counters_.erase(function.number);
  copies_.remove(function.bounds.begin);
}

void FunctionCopies::adjust(std::uint64_t counter, int by) {
  if (by != 0 && (adjustments_[counter] += by) == 0) {
    adjustments_.erase(counter);
  }
}

void FunctionCopies::adjust_at(const core::FunctionCopy& copy, core::Address pc, bool is_counted) {
  const auto place = copy.to_copy(pc);
  const auto point = place ? copy.to_original(*place) : std::nullopt;
  if (point) {
    adjust(copy.blocks[point->block].counter, (point->is_counted ? 1 : 0) - (is_counted ? 1 : 0));
  }
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

CopyUse FunctionCopies::collect(BlockTable& blocks, const ReadCounters& read, core::TimePoint now) {
  std::vector<std::uint64_t> arrivals;
  std::vector<std::pair<Counters*, CopyUse>> uses;
  for (auto& [function, counters] : counters_) {
    const auto values = read(counters.first, static_cast<std::uint32_t>(counters.all.size()));
    uses.emplace_back(&counters, collect(counters, values, blocks, arrivals, now));
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
                                core::TimePoint now) const {
  constexpr std::uint64_t kCounterSize = 8;
  CopyUse use;
  for (std::size_t i = 0; i < counters.all.size() && i < values.size(); ++i) {
    Counter& counter = counters.all[i];
    if (counter.block == kNoBlock) {
      continue;
    }
    const auto adjustment = adjustments_.find(counters.first + kCounterSize * i);
    const std::int64_t by = adjustment != adjustments_.end() ? adjustment->second : 0;
    const std::uint64_t more =
        add(blocks[counter.block], counter, values[i] + static_cast<std::uint64_t>(by), now);
    use.executions += more;
    use.emulated_calls += counter.emulates_call ? more : 0;
    if (counter.is_arrival && more > 0) {
      use.arrivals += more;
      arrivals.push_back(more);
    }
  }
  return use;
}

std::vector<FunctionCopies::FunctionUse> FunctionCopies::take_uses() {
  std::vector<FunctionUse> uses;
  for (auto& [function, counters] : counters_) {
    uses.push_back({function, std::exchange(counters.recent, {})});
  }
  return uses;
}

}  // namespace sp::supervisor
