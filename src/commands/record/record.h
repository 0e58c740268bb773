#pragma once

#include <string>
#include <vector>

#include "cli/cli.h"

namespace sp::session {

/// How superprofiler is to end: with a status, or by the signal that ended the target.
struct Ending {
  int status = 0;
  int signal = 0;  // 0: none
};

/// One run: joins the three stages, drives the target on the calling thread, which must be the
/// process's main one, and writes the results. Errors are told to the user here.
[[nodiscard]] Ending record(const cli::RecordOptions& options,
                            const std::vector<std::string>& own_argv);

}  // namespace sp::session
