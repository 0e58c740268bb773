#include "supervisor/instruments/probes/hot_blocks.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sp::supervisor {

std::vector<std::uint32_t> HotBlocks::take_hottest(ProbedBlocks& blocks, double keep) {
  std::vector<std::uint32_t> hot = std::exchange(executed_, {});
  std::uint64_t all = 0;
  for (const std::uint32_t number : hot) {
    all += blocks[number].hotness;
  }
  std::sort(hot.begin(), hot.end(), [&blocks](std::uint32_t a, std::uint32_t b) {
    return blocks[a].hotness > blocks[b].hotness;
  });
  std::uint64_t kept = all;
  std::size_t chosen = 0;
  while (chosen < hot.size() && static_cast<double>(kept) > keep * static_cast<double>(all)) {
    kept -= blocks[hot[chosen++]].hotness;
  }
  for (const std::uint32_t number : hot) {
    blocks[number].hotness = 0;
  }
  hot.resize(chosen);
  return hot;
}

std::vector<std::uint32_t> find_blocks_above(const ProbedBlocks& blocks, double share,
                                             std::uint64_t minimum) {
  const auto has_probe = [](const ProbedBlock& block) { return !block.until && !block.is_derived; };
  std::uint64_t all = 0;
  for (const ProbedBlock& block : blocks) {
    all += has_probe(block) ? block.executions : 0;
  }
  std::vector<std::uint32_t> found;
  if (all <= minimum) {
    return found;
  }
  for (const ProbedBlock& block : blocks) {
    if (has_probe(block) &&
        static_cast<double>(block.executions) > share * static_cast<double>(all)) {
      found.push_back(block.number);
    }
  }
  return found;
}

}  // namespace sp::supervisor
