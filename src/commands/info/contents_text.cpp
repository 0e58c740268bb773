#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "commands/info/contents.h"
#include "profiler/describe.h"
#include "profiler/formats/json_writer.h"
#include "profiler/text.h"

namespace sp::info {
namespace {

using profiler::ContainerHeader;
using profiler::grouped;

constexpr std::size_t kMostThreads = 20;
constexpr std::size_t kLongestName = 100;

std::string line_of(std::string_view text) {
  return profiler::elided(profiler::folded_blanks(profiler::utf8_text(text)), kLongestName);
}

std::string_view word(ContainerHeader::Cpu cpu) {
  switch (cpu) {
    case ContainerHeader::Cpu::x86_64:
      return "x86_64";
    case ContainerHeader::Cpu::aarch64:
      return "aarch64";
    case ContainerHeader::Cpu::unknown:
      break;
  }
  return "an unknown CPU";
}

/// "2026-11-25 10:28:16 UTC"
std::string utc(std::int64_t realtime_ns) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                     fmt::gmtime(static_cast<std::time_t>(realtime_ns / 1'000'000'000)));
}

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

std::string samples_line(const Contents& contents) {
  const profiler::RecordingSamples& kept = contents.kept;
  if (contents.samples == 0) {
    return "none";
  }
  std::string text = contents.run ? contents.run->sampling()
                                  : fmt::format("sampled, {} samples", grouped(contents.samples));
  if (kept.kept == 0) {
    return text + "; without their times and threads";
  }
  text += fmt::format("; with times and threads: {}, {:.3f} s to {:.3f} s", grouped(kept.weight),
                      seconds(kept.first_ns), seconds(kept.last_ns));
  if (kept.stride > 1) {
    text += fmt::format(", one of {} kept", grouped(kept.stride));
  }
  return text;
}

std::string state_of(const Contents& contents) {
  return contents.header.finished
             ? "complete"
             : "not complete: its run has not ended, was killed, or had no room on the disk";
}

void write_threads(std::ostream& out, const Contents& contents) {
  const std::size_t shown = std::min(kMostThreads, contents.threads.size());
  out << fmt::format(
      "threads    {}{}\n", grouped(contents.threads.size()),
      shown < contents.threads.size() ? fmt::format(", the {} with most samples:", shown) : "");
  for (const Contents::Thread& row : std::span(contents.threads).first(shown)) {
    out << fmt::format("  {:>12} samples  pid {}, tid {}  {}\n", grouped(row.samples),
                       row.thread.process.pid, row.thread.id.tid, line_of(row.thread.name));
  }
}

std::string trace_line(const TraceContents& trace) {
  std::string text = fmt::format("{}: {} bytes, {} events of {} functions in {} threads",
                                 trace.path, grouped(trace.bytes), grouped(trace.events),
                                 grouped(trace.functions), grouped(trace.threads));
  if (trace.lost > 0) {
    text += fmt::format(", {} lost", grouped(trace.lost));
  }
  text += trace.finished ? "" : ", not complete";
  return trace.damage.empty() ? text : text + "; " + trace.damage;
}

void write_trace(profiler::JsonWriter& json, const std::optional<TraceContents>& trace) {
  json.key("trace");
  if (!trace) {
    json.null();
    return;
  }
  json.begin_object();
  json.key("path").string(trace->path);
  json.key("bytes").number(trace->bytes);
  json.key("finished").boolean(trace->finished);
  json.key("events").number(trace->events);
  json.key("lost").number(trace->lost);
  json.key("functions").number(trace->functions);
  json.key("threads").number(trace->threads);
  json.end_object();
}

}  // namespace

void write_text(std::ostream& out, const Contents& contents) {
  out << fmt::format("recording  {}: {} bytes, {}\n", contents.path, grouped(contents.bytes),
                     state_of(contents));
  const std::string command = contents.run ? contents.run->command
                              : contents.processes.empty()
                                  ? std::string("unknown")
                                  : std::string(contents.processes.front().command);
  out << fmt::format("program    {}, pid {}, {}\n", line_of(command), contents.header.pid,
                     word(contents.header.cpu));
  out << fmt::format("recorded   {}{}\n", utc(contents.header.realtime_ns),
                     contents.run
                         ? fmt::format(", {:.3f} s, by superprofiler {}",
                                       contents.run->elapsed_seconds, contents.run->version)
                         : std::string());
  out << fmt::format("samples    {}\n", samples_line(contents));
  out << fmt::format("stacks     {} distinct, of {} addresses\n", grouped(contents.stacks),
                     grouped(contents.places));
  out << fmt::format("functions  {}\n",
                     contents.has_names ? grouped(contents.functions)
                                        : std::string("not named: that is done at SIGUSR1 and at "
                                                      "the end of a run"));
  out << fmt::format("counts     {}\n",
                     contents.run && !contents.run->counts_kind.empty()
                         ? fmt::format("{}: {} blocks, {} edges", contents.run->counts_kind,
                                       grouped(contents.blocks), grouped(contents.edges))
                         : std::string("nothing was counted"));
  if (contents.trace) {
    out << fmt::format("trace      {}\n", trace_line(*contents.trace));
  }
  out << fmt::format("processes  {}\n", grouped(contents.processes.size()));
  write_threads(out, contents);
  out << fmt::format("modules    {}\n", grouped(contents.modules.size()));
  for (const profiler::RecordingModule& module : contents.modules) {
    out << fmt::format("  {:40}  {}{}\n", module.build_id.empty() ? "-" : module.build_id,
                       line_of(module.path), module.deleted ? " (deleted)" : "");
  }
}

void write_json(std::ostream& out, const Contents& contents) {
  profiler::JsonWriter json(out);
  json.begin_object();
  json.key("recording").string(contents.path);
  json.key("bytes").number(contents.bytes);
  json.key("finished").boolean(contents.header.finished);
  json.key("run_id").string(fmt::format("{:016x}", contents.header.run_id));
  json.key("cpu").string(word(contents.header.cpu));
  json.key("pid").number(contents.header.pid);
  json.key("started_ns").number(contents.header.realtime_ns);
  json.key("started_monotonic_ns").number(contents.header.monotonic_ns);
  json.key("command");
  contents.run ? json.string(contents.run->command) : json.null();
  json.key("samples").number(contents.samples);
  json.key("samples_kept").number(contents.kept.kept);
  json.key("samples_stride").number(contents.kept.stride);
  json.key("stacks").number(contents.stacks);
  json.key("addresses").number(contents.places);
  json.key("functions").number(contents.functions);
  json.key("blocks").number(contents.blocks);
  json.key("edges").number(contents.edges);
  write_trace(json, contents.trace);
  json.key("threads").begin_array();
  for (const Contents::Thread& row : contents.threads) {
    json.begin_object();
    json.key("tid").number(row.thread.id.tid);
    json.key("pid").number(row.thread.process.pid);
    json.key("name").string(row.thread.name);
    json.key("start_ns").number(row.thread.start_ns);
    json.key("samples").number(row.samples);
    json.end_object();
  }
  json.end_array();
  json.key("modules").begin_array();
  for (const profiler::RecordingModule& module : contents.modules) {
    json.begin_object();
    json.key("path").string(module.path);
    json.key("build_id").string(module.build_id);
    json.key("base").string(fmt::format("{:#x}", module.base));
    json.key("deleted").boolean(module.deleted);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace sp::info
