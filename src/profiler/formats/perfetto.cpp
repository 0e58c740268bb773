#include "profiler/formats/perfetto.h"

#include <ostream>
#include <string>
#include <vector>

#include "profiler/formats/protobuf.h"
#include "profiler/recording/place_names.h"
#include "profiler/slices.h"
#include "profiler/text.h"

namespace sp::profiler {
namespace {

/// Field numbers of the messages, as in Perfetto's protos.
namespace trace {
constexpr std::uint32_t kPacket = 1;
}
namespace packet {
constexpr std::uint32_t kClockSnapshot = 6;
constexpr std::uint32_t kTimestamp = 8;
constexpr std::uint32_t kSequence = 10;
constexpr std::uint32_t kTrackEvent = 11;
constexpr std::uint32_t kInternedData = 12;
constexpr std::uint32_t kSequenceFlags = 13;
constexpr std::uint32_t kClock = 58;
constexpr std::uint32_t kTrackDescriptor = 60;
}  // namespace packet

constexpr std::uint64_t kRealtime = 1;  // clocks
constexpr std::uint64_t kMonotonic = 3;
constexpr std::uint64_t kCleared = 1;  // flags of a sequence
constexpr std::uint64_t kNeedsState = 2;
constexpr std::uint64_t kBegin = 1;  // types of a track event
constexpr std::uint64_t kEnd = 2;
constexpr std::size_t kLongestName = 1024;

/// Valid UTF-8, cut between two characters.
std::string name_of(std::string_view text) {
  std::string name = utf8_text(text);
  if (name.size() > kLongestName) {
    std::size_t end = kLongestName;
    while ((static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) {
      --end;
    }
    name.resize(end);
  }
  return name;
}

class PerfettoWriter {
 public:
  PerfettoWriter(std::ostream& out, const RecordedRun& run, RecordingReader& recording)
      : out_(out), run_(run), recording_(recording), names_(recording) {}

  void write() {
    write_clocks();
    write_tracks();
    interned_.resize(names_.functions().size());
    const std::int64_t hold = hold_of(run_, recording_.samples());
    Slices(recording_, names_, hold).for_each([this](const Slices::Event& event) {
      write_event(event);
    });
  }

 private:
  void write_packet(ProtoMessage packet) {
    packet.number(packet::kSequence, 1);
    ProtoMessage trace;
    trace.message(trace::kPacket, packet);
    out_ << trace.text();
  }

  void write_clocks() {
    const auto clock = [](std::uint64_t id, std::int64_t ns) {
      ProtoMessage one;
      one.number(1, id);
      one.number(2, static_cast<std::uint64_t>(ns));
      return one;
    };
    ProtoMessage snapshot;
    snapshot.message(1, clock(kRealtime, recording_.header().realtime_ns));
    snapshot.message(1, clock(kMonotonic, recording_.header().monotonic_ns));
    snapshot.number(2, kMonotonic);
    ProtoMessage packet;
    packet.message(packet::kClockSnapshot, snapshot);
    packet.number(packet::kSequenceFlags, kCleared);
    write_packet(packet);
  }

  void write_track(const ProtoMessage& descriptor) {
    ProtoMessage packet;
    packet.message(packet::kTrackDescriptor, descriptor);
    write_packet(packet);
  }

  void write_tracks() {
    std::uint64_t number = recording_.threads().size();
    for (const RecordingProcess& process : recording_.processes()) {
      ProtoMessage about;
      about.number(1, static_cast<std::uint64_t>(process.id.pid));
      about.bytes(2, name_of(process.command));
      about.bytes(6, name_of(process.command));
      ProtoMessage descriptor;
      descriptor.number(1, ++number);
      descriptor.message(3, about);
      write_track(descriptor);
    }
    number = 0;
    for (const RecordingThread& thread : recording_.threads()) {
      ProtoMessage about;
      about.number(1, static_cast<std::uint64_t>(thread.process.pid));
      about.number(2, static_cast<std::uint64_t>(thread.id.tid));
      about.bytes(5, name_of(thread.name));
      ProtoMessage descriptor;
      descriptor.number(1, ++number);
      descriptor.message(4, about);
      write_track(descriptor);
    }
  }

  void write_event(const Slices::Event& event) {
    ProtoMessage packet;
    packet.number(packet::kTimestamp,
                  static_cast<std::uint64_t>(recording_.header().monotonic_ns + event.time_ns));
    packet.number(packet::kClock, kMonotonic);
    packet.number(packet::kSequenceFlags, kNeedsState);
    ProtoMessage track_event;
    track_event.number(9, event.begins ? kBegin : kEnd);
    track_event.number(11, event.thread + 1);
    if (event.begins) {
      const std::uint64_t iid = event.function + 1;  // 0 is none
      const bool has_place = !names_.functions()[event.function].file.empty();
      track_event.number(10, iid);
      track_event.bytes(22, "sampled");
      track_event.number(34, has_place ? iid : 0);
      if (!interned_[event.function]) {
        interned_[event.function] = true;
        packet.message(packet::kInternedData, interned(event.function, has_place));
      }
    }
    packet.message(packet::kTrackEvent, track_event);
    write_packet(packet);
  }

  /// The name of a function, and where it is, with the number that its events have.
  [[nodiscard]] ProtoMessage interned(std::uint32_t number, bool has_place) const {
    const RecordedFunction& function = names_.functions()[number];
    ProtoMessage name;
    name.number(1, number + 1);
    name.bytes(2, name_of(function.name));
    ProtoMessage data;
    data.message(2, name);
    if (has_place) {
      ProtoMessage place;
      place.number(1, number + 1);
      place.bytes(2, name_of(function.file));
      place.bytes(3, name_of(function.name));
      place.number(4, function.line);
      data.message(4, place);
    }
    return data;
  }

  std::ostream& out_;
  const RecordedRun& run_;
  RecordingReader& recording_;
  const PlaceNames names_;
  std::vector<bool> interned_;  // by function
};

}  // namespace

void write_perfetto(std::ostream& out, const RecordedRun& run, RecordingReader& recording) {
  PerfettoWriter(out, run, recording).write();
}

}  // namespace sp::profiler
