#include "profiler/formats/chrome.h"

#include <fmt/format.h>

#include <cstdlib>
#include <ostream>
#include <string>

#include "profiler/recording/place_names.h"
#include "profiler/slices.h"
#include "profiler/text.h"

namespace sp::profiler {
namespace {

void write_tasks(std::ostream& out, const RecordingReader& recording) {
  const auto name = [&](std::string_view what, std::int32_t pid, std::int32_t tid,
                        std::string_view text) {
    out << fmt::format(R"({{"ph":"M","pid":{},"tid":{},"ts":0,"name":"{}","args":{{"name":{}}}}},)",
                       pid, tid, what, json_string(text))
        << '\n';
  };
  for (const RecordingProcess& process : recording.processes()) {
    name("process_name", process.id.pid, process.id.pid, process.command);
  }
  for (const RecordingThread& thread : recording.threads()) {
    name("thread_name", thread.process.pid, thread.id.tid, thread.name);
  }
}

/// Microseconds with three decimals.
std::string us(std::int64_t ns) {
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000);
}

std::string arguments(const RecordedFunction& function) {
  std::string text = fmt::format(R"("module":{})", json_string(function.module));
  if (!function.file.empty()) {
    text += fmt::format(R"(,"file":{},"line":{})", json_string(function.file), function.line);
  }
  return text;
}

}  // namespace

void write_chrome(std::ostream& out, const RecordedRun& run, RecordingReader& recording) {
  const PlaceNames names(recording);
  const RecordingSamples samples = recording.samples();
  out << "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"command\":" << json_string(run.command)
      << ",\"numbers\":" << json_string(run.sampling() + "; a slice is a stretch of samples")
      << ",\"exporter\":" << json_string("superprofiler " + run.version)
      << "},\n\"traceEvents\":[\n";
  write_tasks(out, recording);
  Slices(recording, names, hold_of(run, samples)).for_each([&](const Slices::Event& event) {
    const RecordingThread thread = event.thread < recording.threads().size()
                                       ? recording.threads()[event.thread]
                                       : RecordingThread{};
    const RecordedFunction& function = names.functions()[event.function];
    out << fmt::format(R"({{"ph":"{}","pid":{},"tid":{},"ts":{},"cat":"sampled","name":{})",
                       event.begins ? 'B' : 'E', thread.process.pid, thread.id.tid,
                       us(event.time_ns), json_string(function.name));
    if (event.begins) {
      out << ",\"args\":{" << arguments(function) << '}';
    }
    out << "},\n";
  });
  // The last one has no comma behind it.
  out << fmt::format(
             R"({{"ph":"M","pid":{},"tid":0,"ts":0,"name":"process_sort_index","args":{{"sort_index":0}}}})",
             recording.header().pid)
      << "\n]}\n";
}

}  // namespace sp::profiler
