#include "profiler/formats/firefox.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/formats/firefox_tables.h"
#include "profiler/recording/place_names.h"
#include "profiler/text.h"

namespace sp::profiler {
namespace {

/// By number: see firefox_tables.cpp.
constexpr std::string_view kCategories =
    R"([{"name":"Other","color":"grey","subcategories":["Other"]},)"
    R"({"name":"Program","color":"orange","subcategories":["Other"]},)"
    R"({"name":"Library","color":"yellow","subcategories":["Other"]},)"
    R"({"name":"JIT","color":"green","subcategories":["Other"]},)"
    R"({"name":"Blocked","color":"blue","subcategories":["Other"]}])";

std::string milliseconds(std::int64_t ns) {
  return fmt::format("{}{}.{:06}", ns < 0 ? "-" : "", std::abs(ns) / 1'000'000,
                     std::abs(ns) % 1'000'000);
}

void write_meta(std::ostream& out, const RecordedRun& run, const RecordingReader& recording) {
  const double interval_ms = run.interval_us > 0 ? run.interval_us / 1000 : 1;
  out << fmt::format(
             R"({{"version":24,"preprocessedProfileVersion":66,"interval":{:.6f},"startTime":{},)",
             interval_ms, milliseconds(recording.header().realtime_ns))
      << R"("processType":0,"stackwalk":1,"debug":false,"symbolicated":true,"product":)"
      << json_string(run.command) << ",\"importedFrom\":"
      << json_string(fmt::format("superprofiler {} ({})", run.version, run.sampling()))
      << R"(,"sampleUnits":{"time":"ms","eventDelay":"ms","threadCPUDelta":"ns"},)"
      << "\"categories\":" << kCategories << ",\"markerSchema\":[],\"extensions\":"
      << R"({"length":0,"id":[],"name":[],"baseURL":[]}})";
}

class ThreadWriter {
 public:
  ThreadWriter(std::ostream& out, const RecordedRun& run, const RecordingReader& recording,
               const FirefoxTables& tables)
      : out_(out), run_(run), recording_(recording), tables_(tables) {}

  /// `samples` are those of the thread, in the order of their times.
  void write(const RecordingThread& thread, std::span<const RecordingSample> samples) {
    const std::string_view process = command_of(thread.process);
    out_ << fmt::format(R"({{"name":{},"pid":"{}","tid":{},"isMainThread":{},"processName":{},)",
                        json_string(thread.name), thread.process.pid, thread.id.tid,
                        thread.id.tid == thread.process.pid ? "true" : "false",
                        json_string(process));
    out_ << fmt::format(
                R"("processType":"default","processStartupTime":0,"processShutdownTime":null,)"
                R"("registerTime":{},"unregisterTime":null,"pausedRanges":[],)",
                milliseconds(thread.start_ns))
         << "\n\"samples\":{";
    write_samples(samples);
    out_ << R"("weightType":"samples","length":)" << samples.size()
         << R"(},"markers":{"data":[],"name":[],"startTime":[],"endTime":[],"phase":[],)"
         << R"("category":[],"length":0}})";
  }

 private:
  [[nodiscard]] std::string_view command_of(const core::ProcessId& id) const {
    const auto& all = recording_.processes();
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const RecordingProcess& process) { return process.id == id; });
    return found == all.end() ? std::string_view() : found->command;
  }

  void write_samples(std::span<const RecordingSample> samples) {
    write_column(out_, "stack", samples.size(), [&](std::size_t i) {
      const auto stack = tables_.stack_of(samples[i].node);
      stack ? out_ << *stack : out_ << "null";
    });
    write_column(out_, "timeDeltas", samples.size(), [&](std::size_t i) {
      out_ << milliseconds(samples[i].time_ns - (i == 0 ? 0 : samples[i - 1].time_ns));
    });
    write_column(out_, "weight", samples.size(), [&](std::size_t i) { out_ << samples[i].weight; });
    write_column(out_, "threadCPUDelta", samples.size(), [&](std::size_t i) {
      const bool is_running = samples[i].kind == core::SampleKind::on_cpu;
      out_ << (is_running ? run_.ns_per_sample() * samples[i].weight : 0);
    });
  }

  std::ostream& out_;
  const RecordedRun& run_;
  const RecordingReader& recording_;
  const FirefoxTables& tables_;
};

std::vector<RecordingSample> by_thread(RecordingReader& recording) {
  std::vector<RecordingSample> samples;
  recording.for_each_sample([&](const RecordingSample& sample) { samples.push_back(sample); });
  std::stable_sort(samples.begin(), samples.end(),
                   [](const RecordingSample& a, const RecordingSample& b) {
                     return std::tie(a.thread, a.time_ns) < std::tie(b.thread, b.time_ns);
                   });
  return samples;
}

}  // namespace

void write_firefox(std::ostream& out, const RecordedRun& run, RecordingReader& recording) {
  const PlaceNames names(recording);
  const FirefoxTables tables(recording, names);
  out << "{\"meta\":";
  write_meta(out, run, recording);
  out << ",\n\"libs\":";
  tables.write_libs(out);
  out << ",\n\"shared\":";
  tables.write(out);
  out << ",\n\"threads\":[\n";
  const std::vector<RecordingSample> samples = by_thread(recording);
  ThreadWriter writer(out, run, recording, tables);
  std::string_view between;
  for (std::size_t begin = 0; begin < samples.size();) {
    const std::uint32_t thread = samples[begin].thread;
    std::size_t end = begin;
    while (end < samples.size() && samples[end].thread == thread) {
      ++end;
    }
    out << between;
    writer.write(
        thread < recording.threads().size() ? recording.threads()[thread] : RecordingThread{},
        std::span(samples).subspan(begin, end - begin));
    between = ",\n";
    begin = end;
  }
  out << "],\n\"pages\":[],\"counters\":[],\"profilerOverhead\":[]}\n";
}

}  // namespace sp::profiler
