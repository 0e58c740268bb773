#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/function_trace.h"

/// What trace.sp holds beside the tables that recording.sp has as well. Times are nanoseconds since
/// the run's start.
namespace sp::profiler {

/// Chunks of events have so many at the most.
inline constexpr std::uint64_t kMostEventsInChunk = std::uint64_t{1} << 15U;

/// A function that events name.
struct TraceFunction {
  std::uint32_t module = 0;         // its number
  std::uint64_t offset = 0;         // in the module, bytes
  std::uint64_t size = 0;           // bytes
  bool is_part = false;             // of another function (NAME.cold): it has no entries
  std::uint64_t id = 0;             // the same in every run of the file
  std::string_view linkage_name{};  // "" if unknown, or not known yet
  std::string_view name{};          // demangled
  std::string_view file{};
  std::uint32_t line = 0;
  std::optional<std::int64_t> since_ns{};  // nothing: from the run's start
  std::optional<std::int64_t> until_ns{};  // nothing: to its end
};

/// Both at one moment.
struct TraceClockPair {
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;
};

/// Events of one thread that stand behind each other.
struct TraceEvents {
  std::uint32_t thread = 0;  // its number
  std::uint64_t first = 0;   // the number of the first one among all of the thread
  std::uint64_t lost = 0;    // how many found no room just before it
  std::vector<core::TraceEvent> events{};
};

/// The event's `ticks` are a time.
[[nodiscard]] constexpr bool is_timed(core::TraceEventKind kind) {
  switch (kind) {
    case core::TraceEventKind::open:
    case core::TraceEventKind::entry:
    case core::TraceEventKind::ret:
    case core::TraceEventKind::tail:
    case core::TraceEventKind::resumed:
    case core::TraceEventKind::on:
    case core::TraceEventKind::off:
    case core::TraceEventKind::lost:
    case core::TraceEventKind::end:
    case core::TraceEventKind::stack:
    case core::TraceEventKind::ended:
    case core::TraceEventKind::custom:
    case core::TraceEventKind::typed:
      return true;
    case core::TraceEventKind::stolen:
    case core::TraceEventKind::value:
    case core::TraceEventKind::data:
      break;
  }
  return false;
}

}  // namespace sp::profiler
