#pragma once

#include <cstddef>
#include <string>

#include "core/run_facts.h"
#include "profiler/written_run.h"

namespace sp::profiler {

struct SummaryStyle {
  std::size_t columns = 80;  // of the terminal
  bool colour = false;
  std::size_t functions = 10;  // how many are listed
};

/// The text at the end of a run: top functions, cost to the target, losses, where the results are
/// and what to do next. Lines end in "\n" and have no prefix.
[[nodiscard]] std::string summary_text(const core::RunFacts& facts, const WrittenRun& run,
                                       const SummaryStyle& style);

}  // namespace sp::profiler
