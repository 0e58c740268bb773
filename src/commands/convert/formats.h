#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/convert/code_file.h"
#include "commands/run_files/recording_file.h"
#include "commands/run_files/run_stacks.h"
#include "core/result.h"
#include "profiler/coverage.h"
#include "profiler/formats/drcov.h"
#include "profiler/line_coverage.h"
#include "profiler/recorded_run.h"

namespace sp::convert {

/// What a writer takes and says.
struct Input {
  profiler::RecordedRun run;
  std::unique_ptr<run_files::RunStacks> stacks;
  std::optional<run_files::RecordingFile> recording;  // of formats that need it
  std::optional<profiler::RecordedCode> code;  // of formats that have counts, if there are any
  std::vector<std::string> notes;              // for the user
  std::optional<CodeFile> file{};              // of formats that need one
  profiler::BoltCode bolt{};                   // of its format
  std::optional<profiler::CoverageTable> coverage{};  // of formats of coverage
  profiler::SourceCoverage sources{};                 // of those that are of lines
  std::vector<profiler::ImageRange> images{};         // of the one that is of blocks
};

struct Format {
  std::string_view name;
  std::string_view before;  // the file's name is BEFORE + the run's name + BEHIND
  std::string_view behind;
  std::string_view open_with;  // a program that takes the file as its argument
  bool is_binary = false;
  bool needs_stacks = false;
  bool has_counts = false;
  bool needs_recording = false;  // the time and thread of each sample
  void (*write)(Input& input, std::ostream& out) = nullptr;
  /// Of formats that are of one module's code: what is to be made of its file before writing.
  core::Result<void> (*read_file)(Input& input) = nullptr;
  bool needs_coverage = false;  // and nothing else of a run
  bool needs_trace = false;     // it is written by trace_convert.h
  bool has_lines = false;       // of coverage: those of sources
};

/// One of the choices of --format.
[[nodiscard]] const Format& format_named(std::string_view name);

/// Error: the run lacks what the format needs; the message has the formats that are left.
[[nodiscard]] core::Result<void> check_content(const Format& format,
                                               const profiler::RecordedRun& run,
                                               const std::string& directory);

/// recording.sp of a run. Error: there is none; the message has the formats that are left.
[[nodiscard]] core::Result<run_files::RecordingFile> open_recording(
    const Format& format, const profiler::RecordedRun& run, const std::string& directory);

/// "sampled, on-CPU, 4,218 samples; counts mixed": what the numbers in the file are.
[[nodiscard]] std::string kinds(const Format& format, const Input& input);

}  // namespace sp::convert
