#include "commands/info/contents.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "commands/run_files/finished_run.h"
#include "commands/run_files/recorded_run.h"
#include "commands/run_files/trace_file.h"

namespace sp::info {
namespace {

std::vector<Contents::Thread> threads_of(profiler::RecordingReader& reader) {
  std::vector<Contents::Thread> threads;
  for (const profiler::RecordingThread& thread : reader.threads()) {
    threads.push_back({thread});
  }
  reader.for_each_sample([&](const profiler::RecordingSample& sample) {
    if (sample.thread < threads.size()) {
      threads[sample.thread].samples += sample.weight;
    }
  });
  std::stable_sort(threads.begin(), threads.end(),
                   [](const auto& a, const auto& b) { return a.samples > b.samples; });
  return threads;
}

}  // namespace

Contents contents_of(profiler::RecordingReader& reader, const std::string& path) {
  Contents contents{.path = path, .bytes = reader.file_size(), .header = reader.header()};
  if (reader.has_set()) {
    auto run = run_files::parse_run(reader.facts(), path);
    contents.run = run ? std::optional(std::move(*run)) : std::nullopt;
  }
  if (contents.run) {
    run_files::bring_up_to_date(*contents.run, reader);
  }
  contents.kept = reader.samples();
  for (const std::uint64_t samples : reader.sums()) {
    contents.samples += samples;
    contents.stacks += samples > 0 ? 1 : 0;
  }
  contents.places = reader.places().size();
  contents.has_names = !reader.functions().empty();
  for (const profiler::RecordingFunction& function : reader.functions()) {
    const bool is_seen = function.self > 0 || function.total > 0 || function.calls;
    contents.functions += is_seen && profiler::has_row(function.kind) ? 1 : 0;
  }
  reader.for_each_block([&](const profiler::RecordingBlock&) { ++contents.blocks; });
  reader.for_each_edge([&](const profiler::RecordingEdge&) { ++contents.edges; });
  contents.threads = threads_of(reader);
  contents.processes = reader.processes();
  contents.modules = reader.modules();
  return contents;
}

std::optional<TraceContents> trace_of(const std::string& run) {
  if (run_files::trace_path(run).empty()) {
    return std::nullopt;
  }
  const auto trace = run_files::open_trace(run);
  if (!trace) {
    return std::nullopt;
  }
  const profiler::TraceReader& reader = trace->reader;
  TraceContents contents{.path = trace->path,
                         .bytes = reader.file_size(),
                         .finished = reader.header().finished,
                         .functions = reader.function_numbers().size(),
                         .damage = reader.damage()};
  std::set<std::uint32_t> threads;
  for (const profiler::TraceReader::Place& place : reader.places()) {
    contents.events += place.count;
    contents.lost += place.lost;
    threads.insert(place.thread);
  }
  contents.threads = threads.size();
  return contents;
}

}  // namespace sp::info
