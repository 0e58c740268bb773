#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/run_files/recorded_stacks.h"
#include "commands/run_files/run_stacks.h"
#include "core/result.h"
#include "profiler/html/html_report.h"
#include "profiler/recorded_run.h"

namespace sp::report {

/// What a page is made of.
struct HtmlInput {
  profiler::RecordedRun run;
  std::unique_ptr<run_files::RunStacks> stacks;
  /// `stacks`, if they are those of a recording.
  run_files::RecordedStacks* recorded = nullptr;
  std::optional<profiler::RecordedCode> code;  // if anything was counted
  std::vector<std::string> notes;              // for the user
};

/// Takes the recording, which has the most; what it does not have, or if it is damaged, the run's
/// other files. Errors: there is no run, or it cannot be read.
[[nodiscard]] core::Result<HtmlInput> read_html_input(const std::string& run);

/// The samples with their times, every one, or at most a million of them, evenly.
[[nodiscard]] profiler::ReportTimeline read_timeline(run_files::RecordedStacks& stacks);

}  // namespace sp::report
