#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/clock.h"
#include "core/ids.h"

namespace sp::core {

/// What an event of a function trace says.
enum class TraceEventKind : std::uint8_t {
  open = 0,     // a function was entered before the thread was traced, and its frame is open
  entry = 1,    // control is at a function's first instruction
  ret = 2,      // it is about to return
  tail = 3,     // it is about to jump to another function, whose entry follows
  resumed = 4,  // control is at a landing pad: calls in between were unwound
  on = 5,       // the thread is traced from now on
  off = 6,      // and is not any more
  lost = 7,     // `function`: how many events found no room here
  stolen = 8,   // `ticks`: how long the thread was stopped by us so far, in ticks
  value = 9,    // of the entry behind it; `function`: which argument, from 1, `ticks`: its word
  custom = 10,  // the program's own event; sp: its size, bytes (TraceEvent::own)
  typed = 11,   // likewise, `function`: its type
  end = 12,     // the thread has ended, or calls exec
  stack = 13,   // the thread is on the stack with the number `function` from now on
  ended = 14,   // nothing comes of the function any more: it was too hot
  data = 15,    // what the program's own event before it has: kTraceDataBytes, the last one zeros
};

/// In one TraceEventKind::data: first those of `ticks`, then those of `function`, as in memory.
inline constexpr std::size_t kTraceDataBytes = 12;
/// Of what an event has, so much is kept.
inline constexpr std::size_t kMostTraceData = 1'024;

/// The event's `function` is one.
[[nodiscard]] constexpr bool names_function(TraceEventKind kind) {
  return kind == TraceEventKind::open || kind == TraceEventKind::entry ||
         kind == TraceEventKind::ret || kind == TraceEventKind::tail ||
         kind == TraceEventKind::resumed || kind == TraceEventKind::ended;
}

/// 16 bytes, in memory as in trace.sp.
struct TraceEvent {
  std::uint64_t ticks = 0;
  std::uint32_t function = 0;  // a number
  std::uint32_t kind_and_sp = 0;

  static constexpr std::uint32_t kKindBits = 4;
  static constexpr std::uint32_t kSpUnit = 8;  // bytes

  /// Of the stack pointer bits 3 to 30 are kept: positions on one stack can be compared.
  [[nodiscard]] static constexpr TraceEvent at(TraceEventKind kind, std::uint64_t ticks,
                                               std::uint32_t function, std::uint64_t sp) {
    return {
        ticks, function,
        static_cast<std::uint32_t>(sp / kSpUnit) << kKindBits | static_cast<std::uint32_t>(kind)};
  }
  /// An event of the program's own, of that size.
  [[nodiscard]] static constexpr TraceEvent own(TraceEventKind kind, std::uint64_t ticks,
                                                std::uint32_t type, std::uint64_t size) {
    return at(kind, ticks, type, size * kSpUnit);
  }
  [[nodiscard]] constexpr TraceEventKind kind() const {
    return static_cast<TraceEventKind>(kind_and_sp & ((1U << kKindBits) - 1U));
  }
  /// In units of kSpUnit, modulo 2^28.
  [[nodiscard]] constexpr std::uint32_t sp() const { return kind_and_sp >> kKindBits; }

  bool operator==(const TraceEvent&) const = default;
};
static_assert(sizeof(TraceEvent) == 16);

/// Where the sp of an event is from another's on the same stack, in units of TraceEvent::kSpUnit:
/// positive where `a` is at the higher address, so in a caller.
[[nodiscard]] constexpr std::int32_t sp_distance(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>((a - b) << TraceEvent::kKindBits) >>
         static_cast<std::int32_t>(TraceEvent::kKindBits);
}

/// What a program says by an event of its own: XRay's custom and typed events.
struct ProgramEvent {
  std::optional<std::uint32_t> type{};  // nothing: a custom event
  std::uint64_t size = 0;               // bytes
  std::vector<std::byte> data{};  // the first kMostTraceData of them, as far as there were any
};

/// A function that events name, or that might have had some.
template <typename Where>
struct TracedFunction {
  Where start;
  std::uint64_t size = 0;            // bytes
  bool is_part = false;              // of another function, which jumps to it: no entries
  std::optional<TimePoint> until{};  // its events ended here: it was too hot
  bool is_overwritten = false;       // or the program has overwritten its places
};

/// Events of one thread, in their order. `Where` is core::Address (supervisor) or
/// core::ModuleOffset (from the analyzer on).
template <typename Where>
struct TraceBatch {
  ProcessId process;  // the thread's: that of the event, or a vfork child that shares its memory
  std::vector<TracedFunction<Where>> functions;
  std::vector<TraceEvent> events;  // `function` is an index into `functions`
  /// --tree: not empty, and `ticks` of an entry or open frame are an index into these: where the
  /// call returns to.
  std::vector<Where> sites;
  std::uint64_t first = 0;  // the number of the first event among all of the thread
  std::uint64_t lost = 0;   // how many found no room just before it
};

/// What happens to events that find no room.
enum class WhenFull : std::uint8_t {
  flush,    // there is room: they are written while the run goes on
  keep,     // the newest stay
  discard,  // the oldest stay
};

}  // namespace sp::core
