#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "commands/diff/run_numbers.h"
#include "commands/run_files/stack_file.h"
#include "core/result.h"
#include "profiler/formats/flamegraph_svg.h"
#include "profiler/named_profile.h"

namespace sp::diff {

/// A run's stacks, and the time that a sample of one stands for.
struct RunStacks {
  std::unique_ptr<profiler::StackSource> stacks;
  double ns_per_stack = 0;
};

/// The stacks of both sides as one tree. Its samples are those of B; `before` are those of A, in
/// samples that stand for as much time, and for the same number of runs.
struct DifferenceFlame {
  profiler::NamedProfile profile;
  profiler::FlameBefore before;
  double gone = 0;  // the share of A's samples whose stacks B does not have
};

/// Each side has a run with samples. `rebuilt`: modules whose functions without a symbol are one.
[[nodiscard]] DifferenceFlame difference_flame(const std::vector<RunStacks>& before,
                                               const std::vector<RunStacks>& after,
                                               const std::set<std::string>& rebuilt);

}  // namespace sp::diff
