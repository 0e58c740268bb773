#include "rewriter/branch_plan.h"

#include <array>
#include <span>

namespace sp::rewriter {
namespace {

using core::Address;
using core::CopiedBranch;
using core::Flow;

/// Of each unit, how many ways within the copy lead to it.
std::vector<std::uint32_t> count_ways_to(const CopyUnits& units) {
  std::vector<std::uint32_t> ways(units.units.size());
  const auto add = [&](Address to) {
    if (const auto unit = units.find(to)) {
      ++ways[*unit];
    }
  };
  for (const CopyUnit& unit : units.units) {
    const core::Instruction& last = units.last_of(unit).instruction;
    if (last.flow == Flow::jump || last.flow == Flow::branch) {
      add(*last.target);
    }
    if (unit.falls_through) {
      add(unit.end);
    }
  }
  return ways;
}

class BranchPlanner {
 public:
  BranchPlanner(const core::FunctionToCopy& function, const CopyUnits& units, const LiveState& live,
                const core::CopyPlace& place)
      : function_(function),
        units_(units),
        live_(live),
        place_(place),
        ways_to_(count_ways_to(units)) {}

  PlannedBranch plan(const CopyUnit& unit, std::uint64_t own_counter) const {
    PlannedBranch planned;
    if (const auto next = block_of_one_way(unit, unit.end)) {
      planned.counted = CopiedBranch::Counted::next_by_block;
      planned.counter = place_.counters + sizeof(std::uint64_t) * *next;
    } else if (const auto taken =
                   block_of_one_way(unit, *units_.last_of(unit).instruction.target)) {
      planned.counted = CopiedBranch::Counted::taken_by_block;
      planned.counter = place_.counters + sizeof(std::uint64_t) * *taken;
    } else {
      std::array next_live{live_.before(unit.end)};
      next_live.front().is_bound = is_bound(unit.end);
      planned.by_own_counter =
          cpu::choose_counter(next_live, function_.allow_spill, place_.adds_in_memory);
      planned.counter = own_counter;
    }
    planned.is_counted = planned.by_own_counter || planned.counter != own_counter;
    return planned;
  }

 private:
  [[nodiscard]] bool is_bound(Address at) const {
    const auto unit = units_.find(at);
    return unit && units_.code_of(units_.units[*unit]).front().is_bound;
  }

  /// The block behind the unit to which it alone leads. Counters are read in the order of the
  /// blocks while threads run: what is taken off a count must not be read before it.
  [[nodiscard]] std::optional<std::uint32_t> block_of_one_way(const CopyUnit& from,
                                                              Address to) const {
    const auto unit = units_.find(to);
    if (!unit || ways_to_[*unit] != 1) {
      return std::nullopt;
    }
    const CopyUnit& destination = units_.units[*unit];
    const bool is_only_way = destination.starts_block && !destination.is_outside;
    return is_only_way && destination.block > from.block ? std::optional(destination.block)
                                                         : std::nullopt;
  }

  const core::FunctionToCopy& function_;
  const CopyUnits& units_;
  const LiveState& live_;
  const core::CopyPlace& place_;
  std::vector<std::uint32_t> ways_to_;
};

}  // namespace

std::vector<PlannedBranch> plan_branches(const core::FunctionToCopy& function,
                                         const CopyUnits& units, const LiveState& live,
                                         const core::CopyPlace& place) {
  const BranchPlanner planner(function, units, live, place);
  std::uint64_t own_counters =
      place.counters + sizeof(std::uint64_t) * function.graph->blocks.size();
  std::vector<PlannedBranch> plans(units.units.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const CopyUnit& unit = units.units[i];
    if (units.last_of(unit).instruction.flow == Flow::branch) {
      plans[i] = planner.plan(unit, own_counters);
      own_counters += plans[i].by_own_counter ? sizeof(std::uint64_t) : 0;
    }
  }
  return plans;
}

}  // namespace sp::rewriter
