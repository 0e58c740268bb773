#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/crash.h"
#include "core/result.h"
#include "profiler/crash/named_crash.h"
#include "profiler/crash/written_crashes.h"
#include "profiler/namer.h"
#include "profiler/profile.h"
#include "profiler/run_directory.h"

namespace sp::profiler {

/// Writes a file for each process that died of a signal with a core dump: crash.json, crash-2.json,
/// as soon as it is known. On the profiler thread.
class CrashRecorder {
 public:
  /// More processes are only counted.
  static constexpr std::size_t kMostFiles = 100;

  struct Run {
    std::string version;  // of superprofiler
    std::string host_arch;
    core::TimePoint started{};
  };

  /// `directory` must outlive it.
  explicit CrashRecorder(RunDirectory& directory) : directory_(directory) {}

  NamedCrash add(const core::CrashSeen& seen, const Run& run, const Profile& profile, Namer& namer);
  /// Adds the files so far, and removes those that an earlier run has left.
  void complete(WrittenCrashes& crashes, std::vector<WrittenFile>& files,
                std::vector<core::Error>& failures);

 private:
  RunDirectory& directory_;
  WrittenCrashes crashes_;
  std::vector<WrittenFile> files_;
  std::vector<core::Error> failures_;
};

}  // namespace sp::profiler
