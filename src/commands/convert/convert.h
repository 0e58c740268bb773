#pragma once

#include "cli/cli.h"

/// superprofiler convert [RUN] -f FORMAT [-o FILE]: a finished run in the format of another
/// program.
namespace sp::convert {

/// Writes the file and returns the exit status: 0; 2 if a binary format would go to a terminal; 125
/// if the run cannot be read, lacks what the format needs, or the file cannot be written. Errors
/// and what was written go to stderr.
[[nodiscard]] int run(const cli::ConvertOptions& options);

}  // namespace sp::convert
