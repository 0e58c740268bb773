#include "profiler/formats/perfetto.h"

#include <ostream>

#include "profiler/formats/perfetto_packets.h"
#include "profiler/recording/place_names.h"
#include "profiler/slices.h"

namespace sp::profiler {
namespace {

void write_tracks(PerfettoPackets& packets, const RecordingReader& recording) {
  std::uint64_t number = recording.threads().size();
  for (const RecordingProcess& process : recording.processes()) {
    packets.process_track(++number, process.id.pid, process.command);
  }
  number = 0;
  for (const RecordingThread& thread : recording.threads()) {
    packets.thread_track(++number, thread.process.pid, thread.id.tid, thread.name);
  }
}

}  // namespace

void write_perfetto(std::ostream& out, const RecordedRun& run, RecordingReader& recording) {
  const PlaceNames names(recording);
  PerfettoPackets packets(out);
  packets.clocks(recording.header().realtime_ns, recording.header().monotonic_ns);
  write_tracks(packets, recording);
  const std::int64_t hold = hold_of(run, recording.samples());
  Slices(recording, names, hold).for_each([&](const Slices::Event& event) {
    const std::int64_t ns = recording.header().monotonic_ns + event.time_ns;
    if (event.begins) {
      const RecordedFunction& function = names.functions()[event.function];
      packets.begin(ns, event.thread + 1, "sampled",
                    {event.function, function.name, function.file, function.line});
    } else {
      packets.end(ns, event.thread + 1);
    }
  });
}

}  // namespace sp::profiler
