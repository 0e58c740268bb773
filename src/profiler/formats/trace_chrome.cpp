#include "profiler/formats/trace_chrome.h"

#include <fmt/format.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <unordered_map>

#include "profiler/formats/compact_json.h"
#include "profiler/text.h"
#include "profiler/trace/trace_names.h"

namespace sp::profiler {
namespace {

/// Microseconds with three decimals.
std::string trace_us(std::int64_t ns) {
  const std::uint64_t size =
      ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

void write_task(std::ostream& out, std::string_view what, std::int32_t pid, std::int32_t tid,
                std::string_view name) {
  out << fmt::format(R"({{"ph":"M","pid":{},"tid":{},"ts":0,"name":"{}","args":{{"name":{}}}}},)",
                     pid, tid, what, json_string(name))
      << '\n';
}

class ChromeCalls final : public CallVisitor {
 public:
  ChromeCalls(std::ostream& out, const TraceReader& trace, const TraceTracks& tracks)
      : out_(out), trace_(trace), tracks_(tracks) {}

  void begin(const TracedCall& call) override {
    write('B', call, call.begin_ns);
    out_ << ",\"args\":{" << texts_of(call.function).arguments;
    if (call.argument) {
      std::string argument;
      CompactJson(argument).key("arg1").number(*call.argument);
      out_ << ',' << argument;
    }
    out_ << "}},\n";
  }

  void end(const TracedCall& call) override {
    write('E', call, call.end_ns);
    if (call.closing != TraceClosing::returned) {
      out_ << ",\"args\":{\"closing\":\"" << word(call.closing) << "\"}";
    }
    out_ << "},\n";
  }

  void note(const TracedEvent& event) override {
    const TraceTrack& track = tracks_.at({event.thread, event.stack});
    out_ << fmt::format(
        R"({{"ph":"i","s":"t","pid":{},"tid":{},"ts":{},"cat":"traced","name":{},"args":{{"size":{},"data":{}}}}},)",
        track.pid, track.tid, trace_us(event.at_ns), json_string(event_name(event.event)),
        event.event.size, json_string(event_data(event.event)));
    out_ << '\n';
  }

 private:
  struct FunctionTexts {
    std::string name;       // in quotes
    std::string arguments;  // of its begins
  };

  void write(char phase, const TracedCall& call, std::int64_t ns) {
    const TraceTrack& track = tracks_.at({call.thread, call.stack});
    out_ << fmt::format(R"({{"ph":"{}","pid":{},"tid":{},"ts":{},"cat":"traced","name":{})", phase,
                        track.pid, track.tid, trace_us(ns), texts_of(call.function).name);
  }

  const FunctionTexts& texts_of(std::uint32_t number) {
    const auto [place, is_new] = texts_.try_emplace(number);
    if (is_new) {
      FunctionTexts& texts = place->second;
      texts.name = json_string(trace_function_name(trace_, number));
      texts.arguments =
          fmt::format(R"("module":{})", json_string(trace_module_path(trace_, number)));
      const TraceFunction* const row = trace_.function(number);
      if (row != nullptr && !row->file.empty()) {
        texts.arguments +=
            fmt::format(R"(,"file":{},"line":{})", json_string(row->file), row->line);
      }
    }
    return place->second;
  }

  std::ostream& out_;
  const TraceReader& trace_;
  const TraceTracks& tracks_;
  std::unordered_map<std::uint32_t, FunctionTexts> texts_;
};

}  // namespace

void write_trace_chrome(std::ostream& out, TraceReader& trace, TraceWalk& walk,
                        std::string_view command, std::string_view exporter) {
  out << "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"command\":" << json_string(command)
      << ",\"numbers\":\"traced calls\",\"exporter\":" << json_string(exporter)
      << "},\n\"traceEvents\":[\n";
  const TraceTracks tracks = name_tracks(trace, walk.tracks());
  for (const RecordingProcess& process : trace.processes()) {
    write_task(out, "process_name", process.id.pid, process.id.pid, process.command);
  }
  for (const auto& [key, track] : tracks) {
    write_task(out, "thread_name", track.pid, track.tid, track.name);
  }
  ChromeCalls calls(out, trace, tracks);
  walk.run(calls);
  // The last one has no comma behind it.
  out << fmt::format(
             R"({{"ph":"M","pid":{},"tid":0,"ts":0,"name":"process_sort_index","args":{{"sort_index":0}}}})",
             trace.header().pid)
      << "\n]}\n";
}

}  // namespace sp::profiler
