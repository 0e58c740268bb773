#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "profiler/formats/protobuf.h"

namespace sp::profiler {

/// Writes the packets of one sequence of a Perfetto trace. Times are nanoseconds of
/// CLOCK_MONOTONIC; tracks have numbers from 1.
class PerfettoPackets {
 public:
  /// What an event is of. A function's name is written once.
  struct Function {
    std::uint32_t number = 0;
    std::string_view name;
    std::string_view file;  // "" if unknown
    std::uint64_t line = 0;
  };

  explicit PerfettoPackets(std::ostream& out) : out_(out) {}

  /// Has to be the first packet.
  void clocks(std::int64_t realtime_ns, std::int64_t monotonic_ns);
  void process_track(std::uint64_t track, std::int32_t pid, std::string_view command);
  void thread_track(std::uint64_t track, std::int32_t pid, std::int32_t tid, std::string_view name);
  /// A track that is shown below another one.
  void child_track(std::uint64_t track, std::uint64_t parent, std::string_view name);
  [[nodiscard]] bool knows(std::uint32_t function) const { return interned_.contains(function); }
  /// `function` needs no name if knows() it. `argument`: its first one, if that is known.
  void begin(std::int64_t ns, std::uint64_t track, std::string_view category,
             const Function& function, std::optional<std::uint64_t> argument = {});
  /// Something that takes no time. `size` of it, bytes, of which `data` were kept.
  void instant(std::int64_t ns, std::uint64_t track, std::string_view category,
               std::string_view name, std::uint64_t size, std::string_view data);
  /// `closing`: an annotation of that name; "": none.
  void end(std::int64_t ns, std::uint64_t track, std::string_view closing = "");

 private:
  void write(ProtoMessage packet);
  void write_track(const ProtoMessage& descriptor);
  [[nodiscard]] static ProtoMessage event_packet(std::int64_t ns);

  std::ostream& out_;
  std::unordered_set<std::uint32_t> interned_;
  std::unordered_set<std::uint32_t> with_place_;
  bool has_closing_ = false;
};

}  // namespace sp::profiler
