#pragma once

#include <cstdint>
#include <iosfwd>

#include "profiler/html/html_report.h"

namespace sp::profiler {

/// What report.html has beside its columns of numbers, as JSON that is safe in a script element.
/// `in_stacks` are the samples of all stacks.
void write_report_head(std::ostream& out, const HtmlReport& report, std::uint64_t in_stacks);

}  // namespace sp::profiler
