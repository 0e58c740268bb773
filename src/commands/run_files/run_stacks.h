#pragma once

#include <string>
#include <vector>

#include "profiler/recorded_run.h"

namespace sp::run_files {

/// The stacks of a finished run, and its functions.
class RunStacks : public profiler::StackSource {
 public:
  /// Those of functions() that are rows of functions.tsv.
  [[nodiscard]] virtual std::vector<profiler::RecordedFunction> rows() const = 0;
  /// "PATH is damaged ..": what is before that is read; "" if nothing is.
  [[nodiscard]] virtual const std::string& damage() const = 0;
};

}  // namespace sp::run_files
