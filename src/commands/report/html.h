#pragma once

#include <string>

#include "cli/cli.h"

namespace sp::report {

/// Writes report.html of the run in a directory. Returns the exit status.
[[nodiscard]] int report_html(const cli::ReportOptions& options, const std::string& run);

}  // namespace sp::report
