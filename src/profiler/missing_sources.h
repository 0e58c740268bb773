#pragma once

#include <string>

#include "profiler/line_coverage.h"

namespace sp::profiler {

/// Leaves out the files that are not here and have only code of the system's libraries: nobody
/// looks for them in the report of a program that was counted with all of its libraries.
void leave_out_missing_libraries(SourceCoverage& coverage);

/// One note for all source files that are not here, without which genhtml fails; "" if all are.
[[nodiscard]] std::string missing_sources_note(const SourceCoverage& coverage);

}  // namespace sp::profiler
