#include "commands/run_files/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "commands/run_files/finished_run.h"
#include "profiler/describe.h"
#include "profiler/recording/chunk_header.h"
#include "profiler/text.h"
#include "profiler/trace/traced_span.h"

namespace sp::run_files {
namespace {

using profiler::grouped;

/// "1 function was traced for a part of the run only, ...: leaf(long) until 2.742 s"; "" if none.
std::string partly_traced_note(const TraceFile& trace) {
  constexpr std::size_t kMostNamed = 3;
  constexpr std::size_t kLongestName = 80;
  const std::vector<std::string> functions = profiler::partly_traced(trace.reader);
  // In parts behind the one in which it ended, a function has no row.
  const std::uint64_t all =
      std::max<std::uint64_t>(functions.size(), trace.facts.functions_in_part);
  if (all == 0) {
    return "";
  }
  std::string text = fmt::format(
      "{} {} traced for a part of the run only, and later calls are missing (symbols.tsv says why)",
      grouped(all), all == 1 ? "function was" : "functions were");
  const std::size_t named = std::min(functions.size(), kMostNamed);
  for (std::size_t i = 0; i < named; ++i) {
    text +=
        (i == 0 ? ": " : ", ") +
        profiler::elided(profiler::folded_blanks(profiler::utf8_text(functions[i])), kLongestName);
  }
  return named == 0 || named == all ? text
                                    : text + fmt::format(" and {} more", grouped(all - named));
}

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
  TraceFacts facts = parse_trace_facts(reader->facts());
  return TraceFile{std::move(path), std::move(file), std::move(*reader), facts};
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

profiler::TraceView view_of(const TraceFile& trace, const cli::TraceCuts& cuts) {
  profiler::TraceView view{
      .limit = cuts.limit, .raw_times = cuts.raw_times, .least_ns = trace.facts.min_duration_ns};
  if (cuts.from) {
    view.from_ns = cuts.from->count();
  }
  if (cuts.to) {
    view.to_ns = cuts.to->count();
  }
  return view;
}

std::uint64_t lost_events(const TraceFile& trace, const profiler::TraceWalk& walk) {
  const std::uint64_t seen = walk.skipped().lost;
  const bool is_told = trace.reader.header().finished && trace.reader.damage().empty();
  // What is lost behind a thread's last event shows nowhere in its events.
  return is_told ? trace.facts.lost.value_or(seen) : std::max(seen, trace.facts.lost.value_or(0));
}

bool misses_some(const TraceFile& trace, const profiler::TraceWalk& walk) {
  return lost_events(trace, walk) > 0 || walk.skipped().frames > 0 ||
         !trace.reader.damage().empty() || trace.facts.cleared > 0 || trace.facts.times_off > 0;
}

std::vector<std::string> notes_of_trace(const TraceFile& trace, const profiler::TraceWalk& walk) {
  std::vector<std::string> notes;
  const profiler::OpenFrames::Skipped& skipped = walk.skipped();
  if (const std::uint64_t lost = lost_events(trace, walk); lost > 0) {
    notes.push_back(fmt::format("{} events were lost while recording: {}", grouped(lost),
                                trace.facts.is_full
                                    ? "the trace has reached --trace-size, and all later calls are "
                                      "missing, those of threads that began later, too"
                                    : "calls are missing"));
  }
  if (trace.facts.min_duration_ns > 0) {
    notes.push_back(
        fmt::format("calls shorter than {} are left out (--min-duration)",
                    profiler::duration_text(core::Duration(trace.facts.min_duration_ns))));
  }
  if (trace.facts.max_depth > 0) {
    notes.push_back(fmt::format("calls deeper than {} are left out (--max-depth)",
                                grouped(trace.facts.max_depth)));
  }
  if (trace.facts.cleared > 0) {
    notes.push_back(fmt::format("{} events were cleared: earlier calls are missing",
                                grouped(trace.facts.cleared)));
  }
  if (trace.facts.times_off > 0) {
    notes.push_back(fmt::format(
        "the trace was off {}: calls are missing",
        trace.facts.times_off == 1 ? "once" : grouped(trace.facts.times_off) + " times"));
  }
  if (std::string note = partly_traced_note(trace); !note.empty()) {
    notes.push_back(std::move(note));
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
