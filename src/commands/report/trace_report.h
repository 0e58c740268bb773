#pragma once

#include <string>

#include "cli/cli.h"

namespace sp::report {

/// report --trace of a run, or of a trace.sp. Returns the exit status as run() does.
[[nodiscard]] int report_trace(const cli::ReportOptions& options, const std::string& run);

}  // namespace sp::report
