#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "core/fd.h"
#include "core/result.h"

namespace sp::supervisor {

struct LaunchOptions {
  std::vector<std::string> argv;  // not empty; argv[0] is looked up in PATH
  bool no_aslr = false;
};

/// A forked child that waits for go() before it execs, so that it can be seized first.
class LaunchedChild {
 public:
  /// Forks. The child has our standard streams and process group, and the signal dispositions, mask
  /// and limits that superprofiler was started with. If we die before go(), it exits.
  [[nodiscard]] static core::Result<LaunchedChild> fork(const LaunchOptions& options);

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Lets it exec.
  void go();

  /// The errno of the failed exec, 0 if it succeeded. Call it after the child has ended or its exec
  /// was reported.
  [[nodiscard]] int exec_error();

 private:
  LaunchedChild(pid_t pid, core::UniqueFd go, core::UniqueFd error)
      : pid_(pid), go_(std::move(go)), error_(std::move(error)) {}

  pid_t pid_;
  core::UniqueFd go_;
  core::UniqueFd error_;
};

/// A shell's exit status for an exec that failed with `error`: 127 not found, 126 cannot run.
[[nodiscard]] int status_of_exec_error(int error);
/// A message like "cannot run 'gzzip': not found in PATH", with the fix if there is one.
[[nodiscard]] std::string explain_exec_error(const std::string& program, int error);

}  // namespace sp::supervisor
