#pragma once

#include <cstdint>
#include <optional>

#include "core/function_trace.h"
#include "profiler/trace/traced_call.h"

namespace sp::profiler {

/// Puts together what one thread's events without a time belong to: arguments to the entry behind
/// them, data to the program's own event before them.
class OwnEvents {
 public:
  /// A value, or data.
  void take(const core::TraceEvent& event);
  /// Of the entry that comes now.
  [[nodiscard]] std::optional<std::uint64_t> take_argument();
  /// `event` is one of the program's own, of which data may follow.
  void begin(const core::TraceEvent& event, std::uint32_t thread, std::uint32_t stack,
             std::int64_t at_ns);
  /// The last one, once nothing more of it comes. Its depth is left open.
  [[nodiscard]] std::optional<TracedEvent> take_event();

 private:
  void take_data(const core::TraceEvent& event);

  std::optional<std::uint64_t> argument_;
  std::optional<TracedEvent> event_;
};

/// It tells of what the program says itself.
[[nodiscard]] constexpr bool is_own(core::TraceEventKind kind) {
  return kind == core::TraceEventKind::custom || kind == core::TraceEventKind::typed;
}

}  // namespace sp::profiler
