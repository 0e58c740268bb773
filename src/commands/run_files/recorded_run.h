#pragma once

#include <memory>
#include <string>
#include <vector>

#include "commands/run_files/run_stacks.h"
#include "core/result.h"
#include "profiler/recorded_run.h"
#include "profiler/recording/recording_reader.h"

/// Reads of recording.sp what a run's other files have, where these are not there: a recording was
/// copied alone, or superprofiler was killed.
namespace sp::run_files {

/// There is no `file` in the run's directory, but a recording; or `run` is a recording.
[[nodiscard]] bool is_only_recorded(const std::string& run, const std::string& file);

/// Gives `run`, of a run.json as of a snapshot, what the recording has of the time since then, if
/// that run has not finished. The CPU time since then is unknown: `cpu_ns` becomes 0.
void bring_up_to_date(profiler::RecordedRun& run, profiler::RecordingReader& reader);

/// Errors: those of open_recording(). In all of them damage is added to `notes`.
[[nodiscard]] core::Result<profiler::RecordedRun> recorded_run(const std::string& run);
[[nodiscard]] core::Result<std::unique_ptr<RunStacks>> recorded_stacks(const std::string& run);
[[nodiscard]] core::Result<profiler::RecordedCode> recorded_code(const std::string& run,
                                                                 std::vector<std::string>& notes);

}  // namespace sp::run_files
