#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/function_trace.h"

namespace sp::profiler {

/// How a call of a trace ended, or why its beginning was not seen.
enum class TraceClosing : std::uint8_t {
  returned,
  unwound,         // by an exception or longjmp, or there is no telling how
  tail,            // by a jump to another function
  entered_before,  // before the trace began, or where events were lost; it returned
  at_end,          // of the thread, of the trace, or of the function's events
  across_loss,     // events were lost while it was open: it may be several calls
};

[[nodiscard]] constexpr std::string_view word(TraceClosing closing) {
  switch (closing) {
    case TraceClosing::returned:
      return "returned";
    case TraceClosing::unwound:
      return "unwound";
    case TraceClosing::tail:
      return "tail";
    case TraceClosing::entered_before:
      return "entered-before";
    case TraceClosing::across_loss:
      return "across-loss";
    case TraceClosing::at_end:
      break;
  }
  return "at-end";
}

/// A call. Times are nanoseconds since the run's start, without stolen time unless raw ones were
/// asked for.
struct TracedCall {
  static constexpr std::uint32_t kNoFunction = 0xFFFFFFFF;

  std::uint32_t thread = 0;  // its number
  std::uint32_t stack = 0;   // a thread has several: alternate ones of signals, coroutines
  std::uint32_t function = 0;
  std::uint32_t parent = kNoFunction;  // of the frame below it
  std::uint32_t depth = 0;             // frames below it on its stack
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;   // of a call that has ended; so are those below
  std::int64_t self_ns = 0;  // while it was the top frame of the stack that its thread was on
  TraceClosing closing = TraceClosing::returned;
  std::optional<std::uint64_t> argument{};  // the first one, where it was logged

  [[nodiscard]] std::int64_t duration_ns() const { return end_ns - begin_ns; }
};

/// An event of the program's own.
struct TracedEvent {
  std::uint32_t thread = 0;
  std::uint32_t stack = 0;
  std::uint32_t depth = 0;  // frames that are open on it
  std::int64_t at_ns = 0;   // since the run's start
  core::ProgramEvent event;
};

/// Gets the calls of threads: each begin has one end, and those of one stack of a thread are nested
/// and in the order of their times.
class CallVisitor {
 public:
  CallVisitor() = default;
  CallVisitor(const CallVisitor&) = delete;
  CallVisitor& operator=(const CallVisitor&) = delete;
  virtual ~CallVisitor() = default;

  virtual void begin(const TracedCall& call) = 0;
  virtual void end(const TracedCall& call) = 0;
  virtual void note(const TracedEvent& /*event*/) {}
};

}  // namespace sp::profiler
