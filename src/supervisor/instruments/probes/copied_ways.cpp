#include "supervisor/instruments/probes/copied_ways.h"

#include <algorithm>

#include "supervisor/breakpoints/edge_flow.h"

namespace sp::supervisor {

using core::CopiedBranch;
using core::Flow;

std::optional<CopiedWays> find_ways(const core::FunctionCopy& copy, std::uint32_t index,
                                    const ProbedBlock& block) {
  CopiedWays found;
  found.from = block.last.address;
  found.block = index;
  const auto way_to = [&block](core::Address to) {
    return CopiedWays::Way{to, edge_flow(block.last, to), 0};
  };
  if (block.last.flow == Flow::jump || block.last.flow == Flow::call) {
    found.size = 1;
    found.ways[0] = way_to(*block.last.target);
    return found;
  }
  const auto branch = std::lower_bound(
      copy.branches.begin(), copy.branches.end(), index,
      [](const CopiedBranch& one, std::uint32_t wanted) { return one.block < wanted; });
  if (block.last.flow != Flow::branch || branch == copy.branches.end() || branch->block != index) {
    return std::nullopt;
  }
  found.branch = static_cast<std::uint32_t>((branch->counter - copy.blocks[0].counter) /
                                            sizeof(std::uint64_t));
  found.is_by_block = branch->counted != CopiedBranch::Counted::next;
  found.size = 2;
  found.ways = {way_to(branch->next), way_to(branch->taken)};
  if (branch->counted == CopiedBranch::Counted::taken_by_block) {
    std::swap(found.ways[0], found.ways[1]);
  }
  return found;
}

}  // namespace sp::supervisor
