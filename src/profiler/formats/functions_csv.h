#pragma once

#include <iosfwd>
#include <span>

#include "profiler/recorded_run.h"

namespace sp::profiler {

/// functions.tsv as RFC 4180 has it, but with lines that end in "\n": cells with commas, quotes or
/// line ends are quoted.
void write_functions_csv(std::ostream& out, std::span<const RecordedFunction> rows);

}  // namespace sp::profiler
