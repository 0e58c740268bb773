#include <algorithm>
#include <set>

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
  for (const std::uint32_t number : functions) {
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
    if (std::find(jumps.begin(), jumps.end(), blocks_[number].last.address) != jumps.end()) {
      all.insert(function.blocks.begin(), function.blocks.end());
    }
  }
  return all;
}

}  // namespace sp::supervisor
