#pragma once

#include <iosfwd>

#include "profiler/named_profile.h"
#include "profiler/recorded_run.h"

namespace sp::profiler {

/// stacks.folded: one line for each distinct stack, "outermost;...;innermost N\n", sorted by names
/// from the outermost inwards. The sum of all N is the number of samples with stacks.
void write_folded(std::ostream& out, const NamedProfile& profile);
/// The same of a finished run, in the order of its stacks.
void write_folded(std::ostream& out, StackSource& stacks);

}  // namespace sp::profiler
