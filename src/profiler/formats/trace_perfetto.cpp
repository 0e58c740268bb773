#include "profiler/formats/trace_perfetto.h"

#include <string>

#include "profiler/formats/perfetto_packets.h"
#include "profiler/trace/trace_names.h"

namespace sp::profiler {
namespace {

class PerfettoCalls final : public CallVisitor {
 public:
  PerfettoCalls(PerfettoPackets& packets, const TraceReader& trace, const TraceTracks& tracks)
      : packets_(packets), trace_(trace), tracks_(tracks) {}

  void begin(const TracedCall& call) override {
    PerfettoPackets::Function function{call.function, {}, {}, 0};
    std::string name;
    if (!packets_.knows(call.function)) {
      name = trace_function_name(trace_, call.function);
      function.name = name;
      if (const TraceFunction* const row = trace_.function(call.function)) {
        function.file = row->file;
        function.line = row->line;
      }
    }
    packets_.begin(monotonic(call.begin_ns), track_of(call), "traced", function, call.argument);
  }

  void end(const TracedCall& call) override {
    const bool has_returned = call.closing == TraceClosing::returned;
    packets_.end(monotonic(call.end_ns), track_of(call), has_returned ? "" : word(call.closing));
  }

  void note(const TracedEvent& event) override {
    packets_.instant(monotonic(event.at_ns), tracks_.at({event.thread, event.stack}).number,
                     "traced", event_name(event.event), event.event.size, event_data(event.event));
  }

 private:
  [[nodiscard]] std::int64_t monotonic(std::int64_t ns) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(trace_.header().monotonic_ns) +
                                     static_cast<std::uint64_t>(ns));
  }
  [[nodiscard]] std::uint64_t track_of(const TracedCall& call) const {
    return tracks_.at({call.thread, call.stack}).number;
  }

  PerfettoPackets& packets_;
  const TraceReader& trace_;
  const TraceTracks& tracks_;
};

}  // namespace

void write_trace_perfetto(std::ostream& out, TraceReader& trace, TraceWalk& walk) {
  PerfettoPackets packets(out);
  packets.clocks(trace.header().realtime_ns, trace.header().monotonic_ns);
  const TraceTracks tracks = name_tracks(trace, walk.tracks());
  std::uint64_t number = tracks.size();
  for (const RecordingProcess& process : trace.processes()) {
    packets.process_track(++number, process.id.pid, process.command);
  }
  for (const auto& [key, track] : tracks) {
    if (track.is_first) {
      packets.thread_track(track.number, track.pid, track.tid, track.name);
    } else {
      packets.child_track(track.number, track.of_first, track.name);
    }
  }
  PerfettoCalls calls(packets, trace, tracks);
  walk.run(calls);
}

}  // namespace sp::profiler
