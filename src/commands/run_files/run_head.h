#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "profiler/html/html_report.h"

namespace sp::run_files {

/// What run.json tells people of a run.
struct RunHead {
  std::vector<profiler::ReportFact> facts;
  std::vector<std::string> notes;  // for the user, of when the run ended
};

/// Of the run in a directory or, if that has no run.json, of its recording. Empty if neither has
/// facts: the run was killed.
[[nodiscard]] RunHead read_head(const std::string& run);

/// The text of a run.json.
[[nodiscard]] RunHead parse_head(const std::string& text);

}  // namespace sp::run_files
