#include "commands/run_files/recording_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace sp::run_files {

core::Result<RecordingFile> open_recording(const std::string& run) {
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(run, error);
  std::string path = is_file ? run : run + "/recording.sp";
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*file) {
    return core::fail(
        fmt::format("there is no recording in {} (no {}); give the directory of a run, "
                    "output/PROGRAM-PID, or its recording.sp",
                    run, path));
  }
  auto reader = profiler::RecordingReader::open(*file, path);
  if (!reader) {
    return tl::unexpected(reader.error());
  }
  return RecordingFile{std::move(path), std::move(file), std::move(*reader)};
}

}  // namespace sp::run_files
