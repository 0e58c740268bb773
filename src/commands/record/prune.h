#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/clock.h"

namespace sp::record {

struct Pruned {
  std::vector<std::string> removed;  // names of runs
  std::uint64_t bytes = 0;           // of their files
  std::vector<std::string> errors{};
};

/// Removes the finished runs in a directory that were written longer than `age` ago, but `own`.
/// Left alone: a run that goes on or was killed, a directory that holds another one, and whatever
/// is no run.
[[nodiscard]] Pruned prune_runs(const std::string& parent, const std::string& own,
                                core::Duration age);

}  // namespace sp::record
