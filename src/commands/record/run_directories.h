#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <string>

#include "cli/cli.h"
#include "core/result.h"
#include "profiler/run_directory.h"

namespace sp::record {

/// What a run is called: PROGRAM-PID, with the program's base name, unless the user has named it.
[[nodiscard]] std::string run_name(const cli::RecordOptions& options, pid_t pid);

/// Where a run's files are: DIR/NAME, or with --split DIR/NAME.1, DIR/NAME.2, ..
class RunDirectories {
 public:
  explicit RunDirectories(const cli::RecordOptions& options) : options_(options) {}

  /// Makes the run's directory, or that of its first part. Fails if there is a later part of an
  /// earlier run, unless that may be replaced.
  [[nodiscard]] core::Result<profiler::RunDirectory> make(const std::string& name);
  /// Makes that of a later part. Any thread, after make().
  [[nodiscard]] core::Result<profiler::RunDirectory> make_part(std::uint32_t part);
  /// The absolute path of what was made last. Any thread.
  [[nodiscard]] std::string current() const;

 private:
  [[nodiscard]] core::Result<profiler::RunDirectory> create(const std::string& name);
  [[nodiscard]] core::Result<void> check_later_parts() const;

  const cli::RecordOptions& options_;
  std::string name_;
  mutable std::mutex mutex_;
  std::string current_;  // under mutex_
};

}  // namespace sp::record
