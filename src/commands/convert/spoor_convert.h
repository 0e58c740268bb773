#pragma once

#include "cli/cli.h"
#include "commands/convert/formats.h"

namespace sp::convert {

/// What was given are traces of Spoor's (.spoor_trace), or folders that have some.
[[nodiscard]] bool is_of_spoor(const cli::ConvertOptions& options);

/// convert of Spoor's files, joined as one trace. Those of one run are joined by thread. Returns
/// the exit status as run() does.
[[nodiscard]] int convert_spoor(const cli::ConvertOptions& options, const Format& format);

}  // namespace sp::convert
