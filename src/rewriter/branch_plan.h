#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/counter_choice.h"
#include "core/function_copy.h"
#include "rewriter/copy_units.h"
#include "rewriter/live_state.h"

namespace sp::rewriter {

/// How the ways on from a unit are counted that ends with a conditional branch.
struct PlannedBranch {
  bool is_counted = false;
  core::CopiedBranch::Counted counted = core::CopiedBranch::Counted::next;
  std::uint64_t counter = 0;
  /// Counts on the way to the next instruction, in front of it.
  std::optional<arch::CounterChoice> by_own_counter;
};

/// One for each unit. A way is counted by the block that it leads to if nothing else in the copy
/// does and control does not come there from outside: whoever puts a thread there knows it. Else a
/// counter is added, behind those of the blocks. A branch whose next instruction has no dead flags
/// and registers, and where none may be spilled, is not counted.
[[nodiscard]] std::vector<PlannedBranch> plan_branches(const core::FunctionToCopy& function,
                                                       const CopyUnits& units,
                                                       const LiveState& live,
                                                       const core::CopyPlace& place);

}  // namespace sp::rewriter
