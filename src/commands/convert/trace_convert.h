#pragma once

#include <string>
#include <vector>

#include "cli/cli.h"
#include "commands/convert/formats.h"
#include "commands/run_files/trace_file.h"

namespace sp::convert {

/// Formats that have the calls of a trace: perfetto, chrome, speedscope, xray.
[[nodiscard]] bool has_traces(const Format& format);

/// convert of a run that has a trace, or of a trace.sp. Returns the exit status as run() does.
[[nodiscard]] int convert_trace(const cli::ConvertOptions& options, const Format& format,
                                const std::string& run);

/// The same of a trace that is open. Without -o the file is `directory`/`name` with the format's
/// suffix; "" for the run's own name. `notes` are for the user.
[[nodiscard]] int convert_open_trace(const cli::ConvertOptions& options, const Format& format,
                                     run_files::TraceFile file, const std::string& directory,
                                     const std::string& name, std::vector<std::string> notes = {});

}  // namespace sp::convert
