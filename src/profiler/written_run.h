#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "profiler/named_profile.h"
#include "profiler/run_directory.h"

namespace sp::profiler {

/// What came of a run: what its files hold in short, and where they are.
struct WrittenRun {
  std::string directory;
  std::vector<WrittenFile> files{};
  /// What could not be written where it should have been.
  std::vector<core::Error> failures{};
  /// Where the files went that could not be written to `directory`; "" where none did.
  std::string fallback_directory{};
  SampleCounts counts;
  bool wall = false;
  /// The first rows of functions.tsv.
  std::vector<Function> top{};
};

}  // namespace sp::profiler
