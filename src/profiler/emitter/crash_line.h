#pragma once

#include <string>

#include "profiler/crash/named_crash.h"
#include "profiler/tree/tree_ids.h"

namespace sp::profiler {

/// The `event` of a process that dies of a signal with a core dump. Calls are those that have code
/// of their own, not inlined ones, with the addresses of the tree.
[[nodiscard]] std::string crash_line(const NamedCrash& crash, TreeIds& ids, bool has_names);

/// The `event` of a program that was killed without a stop in which its stacks could be read.
[[nodiscard]] std::string killed_line(int pid, int signal);

}  // namespace sp::profiler
