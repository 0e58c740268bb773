#pragma once

#include <iosfwd>

#include "profiler/named_profile.h"

namespace sp::profiler {

/// stacks.folded: one line for each distinct stack, "outermost;...;innermost N\n", sorted by names
/// from the outermost inwards. The sum of all N is the number of samples with stacks.
void write_folded(std::ostream& out, const NamedProfile& profile);

}  // namespace sp::profiler
