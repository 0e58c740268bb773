#include "profiler/output_files.h"

#include <array>
#include <utility>

#include "core/progress_line.h"
#include "profiler/coverage_files.h"
#include "profiler/recorder.h"
#include "profiler/trace_recorder.h"

namespace sp::profiler {
namespace {

/// Not of every run: one left from a run that was overwritten would not match the others.
constexpr std::array kSomeFiles{kFlameGraph,
                                kBlocks,
                                kEdges,
                                kSymbols,
                                TraceRecorder::kFile,
                                kTree,
                                kCoverageFiles[0],
                                kCoverageFiles[1],
                                kCoverageFiles[2],
                                kLearnedRules};

}  // namespace

std::vector<std::string> names_of_files(const std::vector<Output>& outputs) {
  std::vector<std::string> names;
  names.reserve(outputs.size() + 1);
  for (const Output& output : outputs) {
    names.push_back(output.name);
  }
  names.emplace_back(Recorder::kFile);
  return names;
}

std::vector<Output> write_outputs(RunDirectory& directory, std::vector<Output> outputs,
                                  WrittenRun& written) {
  std::vector<Output> failed;
  for (Output& output : outputs) {
    const core::ProgressLine progress("writing " + output.name);
    core::Result<WrittenFile> file = directory.write(output.name, output.writer);
    if (file) {
      written.files.push_back(std::move(*file));
    } else {
      written.failures.push_back(std::move(file.error()));
      failed.push_back(std::move(output));
    }
  }
  for (const std::string_view name : kSomeFiles) {
    if (failed.empty() && !directory.has_made(name)) {
      directory.remove(std::string(name));
    }
  }
  return failed;
}

void write_to_fallback(const std::vector<Output>& outputs, const std::string& run_name,
                       WrittenRun& written) {
  core::Result<RunDirectory> fallback = RunDirectory::create_fallback(run_name);
  if (!fallback) {
    written.failures.push_back(std::move(fallback.error()));
    return;
  }
  for (const Output& output : outputs) {
    core::Result<WrittenFile> file = fallback->write(output.name, output.writer);
    if (file) {
      written.fallback_directory = fallback->path();
      written.files.push_back(std::move(*file));
    } else {
      written.failures.push_back(std::move(file.error()));
    }
  }
}

}  // namespace sp::profiler
