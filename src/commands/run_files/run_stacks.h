#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/recorded_run.h"

namespace sp::run_files {

/// The stacks of a finished run, and its functions.
class RunStacks : public profiler::StackSource {
 public:
  /// One of functions() may be a row of functions.tsv; other ones are markers.
  [[nodiscard]] virtual bool may_be_row(std::uint32_t function) const = 0;
  /// Those of functions() that are rows of functions.tsv.
  [[nodiscard]] virtual std::vector<profiler::RecordedFunction> rows() const = 0;
  /// "PATH is damaged ..": what is before that is read; "" if nothing is.
  [[nodiscard]] virtual const std::string& damage() const = 0;
};

}  // namespace sp::run_files
