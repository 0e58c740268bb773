#include "commands/run_files/trace_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "commands/run_files/finished_run.h"
#include "profiler/recording/chunk_header.h"
#include "profiler/text.h"

namespace sp::run_files {
namespace {

/// Its first chunk has clocks.
bool begins_as_trace(const std::string& path) {
  profiler::ContainerHeaderBytes header{};
  profiler::ChunkHeaderBytes chunk{};
  std::ifstream file(path, std::ios::binary);
  const auto read = [&file](auto& bytes) {
    file.read(static_cast<char*>(static_cast<void*>(bytes.data())),
              static_cast<std::streamsize>(bytes.size()));
    return file.good();
  };
  profiler::ContainerHeader decoded;
  return read(header) && read(chunk) &&
         profiler::decode(header, decoded) == profiler::HeaderCheck::good &&
         profiler::decode(chunk).kind == static_cast<std::uint32_t>(profiler::ChunkKind::clocks);
}

}  // namespace

std::string trace_path(const std::string& run) {
  std::error_code error;
  if (std::filesystem::is_regular_file(run, error)) {
    return begins_as_trace(run) ? run : "";
  }
  std::string path = run + "/trace.sp";
  return std::filesystem::is_regular_file(path, error) ? path : "";
}

core::Result<TraceFile> open_trace(const std::string& run) {
  std::string path = trace_path(run);
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (path.empty() || !*file) {
    return core::fail(
        fmt::format("there is no trace in {} (no trace.sp); record one with --trace", run));
  }
  auto reader = profiler::TraceReader::open(*file, path);
  if (!reader) {
    return tl::unexpected(reader.error());
  }
  return TraceFile{std::move(path), std::move(file), std::move(*reader)};
}

profiler::RecordedRun run_of_trace(TraceFile& trace) {
  auto parsed = parse_run(trace.reader.facts(), trace.path);
  profiler::RecordedRun run = parsed ? std::move(*parsed) : profiler::RecordedRun{};
  if (run.name.empty()) {
    std::error_code error;
    const auto directory = std::filesystem::absolute(trace.path, error).parent_path();
    run.name = directory.filename().string();
  }
  if (run.command.empty()) {
    const auto& processes = trace.reader.processes();
    run.command = processes.empty() ? run.name : std::string(processes.front().command);
  }
  return run;
}

profiler::TraceView view_of(const cli::TraceCuts& cuts) {
  profiler::TraceView view{.limit = cuts.limit, .raw_times = cuts.raw_times};
  if (cuts.from) {
    view.from_ns = cuts.from->count();
  }
  if (cuts.to) {
    view.to_ns = cuts.to->count();
  }
  return view;
}

std::vector<std::string> notes_of_trace(const TraceFile& trace, const profiler::TraceWalk& walk) {
  using profiler::grouped;
  std::vector<std::string> notes;
  const profiler::OpenFrames::Skipped& skipped = walk.skipped();
  if (skipped.lost > 0) {
    notes.push_back(fmt::format("{} events were lost while recording: calls are missing",
                                grouped(skipped.lost)));
  }
  if (skipped.kinds > 0) {
    notes.push_back(fmt::format("{} events are neither calls nor returns, and are left out",
                                grouped(skipped.kinds)));
  }
  if (skipped.frames > 0) {
    notes.push_back(
        fmt::format("{} calls are nested too deep, and are left out", grouped(skipped.frames)));
  }
  if (!trace.reader.damage().empty()) {
    notes.push_back(trace.reader.damage());
  }
  return notes;
}

}  // namespace sp::run_files
