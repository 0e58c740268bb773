#pragma once

#include <fstream>
#include <memory>
#include <string>

#include "core/result.h"
#include "profiler/recording/recording_reader.h"

namespace sp::run_files {

/// recording.sp of a run, opened.
struct RecordingFile {
  std::string path;
  std::unique_ptr<std::ifstream> file;  // of `reader`
  profiler::RecordingReader reader;
};

/// `run` is a run's directory, or a recording itself. Errors: there is none; those of
/// RecordingReader::open().
[[nodiscard]] core::Result<RecordingFile> open_recording(const std::string& run);

}  // namespace sp::run_files
