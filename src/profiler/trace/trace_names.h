#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/function_trace.h"
#include "profiler/trace/trace_reader.h"

namespace sp::profiler {

/// The demangled name, else the linkage name, else "module+0x1234"; "[function 7]" of a number
/// without a row.
[[nodiscard]] std::string trace_function_name(const TraceReader& reader, std::uint32_t number);
/// "" if unknown.
[[nodiscard]] std::string trace_module_path(const TraceReader& reader, std::uint32_t number);

/// "custom event", "typed event 7".
[[nodiscard]] std::string event_name(const core::ProgramEvent& event);
/// What it has, as far as that was kept: text if it is some, without zeros at its end, else
/// hexadecimal bytes: "de ad".
[[nodiscard]] std::string event_data(const core::ProgramEvent& event);

/// A stack of a thread, as other programs show a thread. The first stack of a thread has its own
/// tid; the others have tids that the kernel does not give out.
struct TraceTrack {
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  std::string name{};
  bool is_first = true;
  std::uint64_t number = 0;    // from 1, in the order of the map
  std::uint64_t of_first = 0;  // the number of the thread's first stack
};

using TraceTracks = std::map<std::pair<std::uint32_t, std::uint32_t>, TraceTrack>;

[[nodiscard]] TraceTracks name_tracks(
    const TraceReader& reader, const std::set<std::pair<std::uint32_t, std::uint32_t>>& tracks);

}  // namespace sp::profiler
