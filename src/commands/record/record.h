#pragma once

#include <string>
#include <vector>

#include "cli/cli.h"

namespace sp::record {

/// How superprofiler ends: with a status, or by the signal that ended the target.
struct Ending {
  int status = 0;
  int signal = 0;  // 0: none
};

/// Records one run: connects the three stages, traces the target on the calling thread, which must
/// be the main thread, and writes the results. Reports errors to the user.
[[nodiscard]] Ending run(const cli::RecordOptions& options,
                         const std::vector<std::string>& own_argv);

}  // namespace sp::record
