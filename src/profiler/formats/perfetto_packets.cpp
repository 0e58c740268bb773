#include "profiler/formats/perfetto_packets.h"

#include <ostream>

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
constexpr std::uint64_t kInstant = 3;
constexpr std::uint64_t kClosing = 1;  // the only name of an annotation that is written once
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

ProtoMessage clock(std::uint64_t id, std::int64_t ns) {
  ProtoMessage message;
  message.number(1, id);
  message.number(2, static_cast<std::uint64_t>(ns));
  return message;
}

ProtoMessage annotation(std::string_view name, std::uint64_t value) {
  ProtoMessage message;
  message.bytes(10, name);
  message.chosen_number(3, value);
  return message;
}

}  // namespace

void PerfettoPackets::write(ProtoMessage packet) {
  packet.number(packet::kSequence, 1);
  ProtoMessage trace;
  trace.message(trace::kPacket, packet);
  out_ << trace.text();
}

void PerfettoPackets::clocks(std::int64_t realtime_ns, std::int64_t monotonic_ns) {
  ProtoMessage snapshot;
  snapshot.message(1, clock(kRealtime, realtime_ns));
  snapshot.message(1, clock(kMonotonic, monotonic_ns));
  snapshot.number(2, kMonotonic);
  ProtoMessage packet;
  packet.message(packet::kClockSnapshot, snapshot);
  packet.number(packet::kSequenceFlags, kCleared);
  write(packet);
}

void PerfettoPackets::write_track(const ProtoMessage& descriptor) {
  ProtoMessage packet;
  packet.message(packet::kTrackDescriptor, descriptor);
  write(packet);
}

void PerfettoPackets::process_track(std::uint64_t track, std::int32_t pid,
                                    std::string_view command) {
  ProtoMessage about;
  about.number(1, static_cast<std::uint64_t>(pid));
  about.bytes(2, name_of(command));
  about.bytes(6, name_of(command));
  ProtoMessage descriptor;
  descriptor.number(1, track);
  descriptor.message(3, about);
  write_track(descriptor);
}

void PerfettoPackets::thread_track(std::uint64_t track, std::int32_t pid, std::int32_t tid,
                                   std::string_view name) {
  ProtoMessage about;
  about.number(1, static_cast<std::uint64_t>(pid));
  about.number(2, static_cast<std::uint64_t>(tid));
  about.bytes(5, name_of(name));
  ProtoMessage descriptor;
  descriptor.number(1, track);
  descriptor.message(4, about);
  write_track(descriptor);
}

void PerfettoPackets::child_track(std::uint64_t track, std::uint64_t parent,
                                  std::string_view name) {
  ProtoMessage descriptor;
  descriptor.number(1, track);
  descriptor.bytes(2, name_of(name));
  descriptor.number(5, parent);
  write_track(descriptor);
}

ProtoMessage PerfettoPackets::event_packet(std::int64_t ns) {
  ProtoMessage packet;
  packet.number(packet::kTimestamp, static_cast<std::uint64_t>(ns));
  packet.number(packet::kClock, kMonotonic);
  packet.number(packet::kSequenceFlags, kNeedsState);
  return packet;
}

void PerfettoPackets::begin(std::int64_t ns, std::uint64_t track, std::string_view category,
                            const Function& function, std::optional<std::uint64_t> argument) {
  const std::uint64_t iid = std::uint64_t{function.number} + 1;  // 0 is none
  ProtoMessage packet = event_packet(ns);
  if (interned_.insert(function.number).second) {
    ProtoMessage name;
    name.number(1, iid);
    name.bytes(2, name_of(function.name));
    ProtoMessage data;
    data.message(2, name);
    if (!function.file.empty()) {
      with_place_.insert(function.number);
      ProtoMessage place;
      place.number(1, iid);
      place.bytes(2, name_of(function.file));
      place.bytes(3, name_of(function.name));
      place.number(4, function.line);
      data.message(4, place);
    }
    packet.message(packet::kInternedData, data);
  }
  ProtoMessage event;
  if (argument) {
    event.message(4, annotation("arg1", *argument));
  }
  event.number(9, kBegin);
  event.number(11, track);
  event.number(10, iid);
  event.bytes(22, category);
  event.number(34, with_place_.contains(function.number) ? iid : 0);
  packet.message(packet::kTrackEvent, event);
  write(packet);
}

void PerfettoPackets::instant(std::int64_t ns, std::uint64_t track, std::string_view category,
                              std::string_view name, std::uint64_t size, std::string_view data) {
  ProtoMessage text;
  text.bytes(10, "data");
  text.bytes(6, data);
  ProtoMessage event;
  event.message(4, annotation("size", size));
  event.message(4, text);
  event.number(9, kInstant);
  event.number(11, track);
  event.bytes(22, category);
  event.bytes(23, name_of(name));
  ProtoMessage packet = event_packet(ns);
  packet.message(packet::kTrackEvent, event);
  write(packet);
}

void PerfettoPackets::end(std::int64_t ns, std::uint64_t track, std::string_view closing) {
  ProtoMessage packet = event_packet(ns);
  ProtoMessage event;
  if (!closing.empty()) {
    if (!has_closing_) {
      has_closing_ = true;
      ProtoMessage name;
      name.number(1, kClosing);
      name.bytes(2, "closing");
      ProtoMessage data;
      data.message(3, name);
      packet.message(packet::kInternedData, data);
    }
    ProtoMessage annotation;
    annotation.number(1, kClosing);
    annotation.bytes(6, closing);
    event.message(4, annotation);
  }
  event.number(9, kEnd);
  event.number(11, track);
  packet.message(packet::kTrackEvent, event);
  write(packet);
}

}  // namespace sp::profiler
