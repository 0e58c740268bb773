#pragma once

#include <sys/types.h>

#include <string>

#include "core/fd.h"

namespace sp::symbols {

/// A process whose JIT compiler writes files: its pids and its user, determined while it lives.
class JitOwner {
 public:
  explicit JitOwner(pid_t pid);

  [[nodiscard]] pid_t outer_pid() const { return outer_pid_; }
  /// In its own namespace.
  [[nodiscard]] pid_t inner_pid() const { return inner_pid_; }
  /// The open file, if perf would trust it too: regular, and owned by the process's user or root.
  [[nodiscard]] core::UniqueFd open(int folder, const std::string& name) const;

 private:
  pid_t outer_pid_;
  pid_t inner_pid_;
  uid_t user_;
};

}  // namespace sp::symbols
