#pragma once

#include <string>

#include "cli/cli.h"
#include "commands/convert/formats.h"

namespace sp::convert {

/// Formats that have the calls of a trace: perfetto, chrome, speedscope, xray.
[[nodiscard]] bool has_traces(const Format& format);

/// convert of a run that has a trace, or of a trace.sp. Returns the exit status as run() does.
[[nodiscard]] int convert_trace(const cli::ConvertOptions& options, const Format& format,
                                const std::string& run);

}  // namespace sp::convert
