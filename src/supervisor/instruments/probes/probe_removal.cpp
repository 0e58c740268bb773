#include <algorithm>
#include <set>

#include "supervisor/instruments/probes/coverage.h"
#include "supervisor/instruments/probes/probed_code.h"

// Which probes go because they are hot.
namespace sp::supervisor {

std::size_t ProbedCode::remove_hottest(double keep, core::TimePoint now) {
  std::vector<std::uint32_t> hottest = hot_.take_hottest(blocks_.all(), keep);
  std::erase_if(hottest, [&](auto block) { return becomes_due(blocks_[block], now); });
  remove_probes(hottest, now);
  return hottest.size();
}

std::size_t ProbedCode::remove_above(double share, std::uint64_t from, core::TimePoint now) {
  const std::vector<std::uint32_t> hot = find_blocks_above(blocks_.all(), share, from);
  remove_probes(hot, now);
  return hot.size();
}

void ProbedCode::remove_probes(std::span<const std::uint32_t> chosen, core::TimePoint now) {
  if (derives_) {
    propagate_counts();
  }
  const std::set<std::uint32_t> all = with_uncountable(chosen);
  std::vector<BreakpointSite*> sites;
  std::set<std::uint32_t> functions;
  for (const std::uint32_t number : all) {
    Block& block = blocks_[number];
    if (functions_[block.function].state == ProbedFunction::State::copied) {
      continue;
    }
    functions.insert(block.function);
    BreakpointSite* const site =
        block.probe == core::Address{} ? nullptr : inserted_at(block.probe);
    if (site != nullptr && !block.until) {
      block.until = now;
      block.has_unreported_change = true;
      sites.push_back(site);
    }
  }
  if (!sites.empty()) {
    functions_.note_unseen();
  }
  for (const std::uint32_t number : functions) {
    blocks_.end_unlocked(functions_[number], now);
    end_trace_of(functions_[number], now);
    propagation_.end_uncounted(functions_[number], blocks_.all(), now);
  }
  remove_all(std::move(sites));
}

/// The chosen blocks, and all blocks of a function of which one ends with an indirect jump with
/// unknown targets: without that one's probe, nobody sees a jump into the middle of another block.
std::set<std::uint32_t> ProbedCode::with_uncountable(std::span<const std::uint32_t> chosen) {
  std::set<std::uint32_t> all(chosen.begin(), chosen.end());
  for (const std::uint32_t number : chosen) {
    const ProbedFunction& function = functions_[blocks_[number].function];
    const auto& jumps = function.unresolved;
    // A function that is traced has its entries and its exits, or neither.
    for (const std::uint32_t part : trace_ ? function.parts : std::vector<std::uint32_t>()) {
      all.insert(functions_[part].blocks.begin(), functions_[part].blocks.end());
    }
    if (trace_ ||
        std::find(jumps.begin(), jumps.end(), blocks_[number].last.address) != jumps.end()) {
      all.insert(function.blocks.begin(), function.blocks.end());
    }
  }
  return all;
}

void ProbedCode::end_trace_of(ProbedFunction& function, core::TimePoint now) {
  if (!trace_ || trace_->is_over || function.trace_until) {
    return;
  }
  function.trace_until = now;
  trace_->ended.push_back(function.number);
  for (const auto& thread : trace_->threads) {
    thread->end_function(function.number, now);
  }
}

/// A function that has places may return from its parts, and is covered with them.
void ProbedCode::instrument_parts(std::uint32_t number) {
  if (coverage_ != nullptr) {
    cover_parts(*this, number);
    return;
  }
  for (const std::uint32_t block : std::vector<std::uint32_t>(functions_[number].blocks)) {
    const auto target = blocks_[block].last.target;
    const bool jumps = blocks_[block].last.flow != core::Flow::call;
    ProbedFunction* const part = target && jumps ? functions_.at(*target) : nullptr;
    if (part == nullptr || !part->is_part || part->number == number ||
        blocks_.starting_at(*target) != nullptr) {
      continue;
    }
    functions_[number].parts.push_back(part->number);
    instrument_function(std::span(&*target, 1), std::nullopt);
  }
}

void ProbedCode::disarm_entries() {
  functions_.note_unseen();
  std::vector<BreakpointSite*> entries;
  for (ProbedFunction& function : functions_.all()) {
    if (function.state != ProbedFunction::State::awaiting_entry) {
      continue;
    }
    function.state = ProbedFunction::State::uninstrumented;
    end_trace_of(function, core::Clock::now());
    BreakpointSite* const entry = inserted_at(function.bounds.begin);
    if (entry != nullptr && entry->block == BreakpointSite::kNoBlock && entry->gate == Gate::none) {
      entries.push_back(entry);
    }
  }
  remove_all(std::move(entries));
}

}  // namespace sp::supervisor
