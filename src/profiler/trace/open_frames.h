#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/function_trace.h"
#include "profiler/trace/own_events.h"
#include "profiler/trace/short_calls.h"
#include "profiler/trace/traced_call.h"

namespace sp::profiler {

/// A frame that was open before the events of a segment began: it left in the segment.
struct FrameBefore {
  std::uint32_t segment = 0;  // of a thread's events: on, off, end and losses begin a new one
  std::uint32_t stack = 0;
  std::uint32_t function = 0;
  std::uint32_t sp = 0;  // as TraceEvent::sp()
};

/// The rules by which the events of one thread become calls. Takes memory for the open frames, at
/// most kMostFrames of them, and for each stack that was seen, at most kMostStacks.
///
///   entry (f, sp)    frames with entry sp <= sp are gone: unwound now. f opens
///   return (f, sp)   frames above the one with entry sp: unwound. That one: returned. If there is
///                    none, f was entered before
///   tail (f, sp)     as a return, but the frame closes as tail
///   resumed (f, sp)  frames with entry sp < sp: unwound; on CPUs whose calls do not push, <=
///   open (f, sp)     as an entry, but f was entered before the events began
///   stack n          the thread is on another stack; closes none
///   on, off, end     all frames close as at-end
///   lost             nothing closes; what was entered meanwhile is entered before. Whatever ends a
///                    frame later, it closes as across-loss: it may be another call's
///   ended f          frames of f close as at-end, now or when the frames above them have closed
///   value            belongs to the entry behind it
///   custom, typed    an event of the program's own; what it says stands in the data behind it
class OpenFrames {
 public:
  struct Rules {
    bool calls_push = true;     // a callee's entry sp is below the sp of its caller: x86_64
    bool raw_times = false;     // stolen time is not taken off
    bool finds_before = false;  // only looks for frames that were open before: see before()
    std::int64_t least_ns = 0;  // and for calls that took less: see short_calls()
  };
  /// What is known of a function.
  struct Facts {
    bool is_part = false;  // a return of it belongs to the frame with the same sp
  };
  struct Sources {
    std::function<Facts(std::uint32_t function)> function;
    std::function<std::int64_t(std::uint64_t ticks)> clock;  // since the run's start
  };
  /// What could not be made a call of.
  struct Skipped {
    std::uint64_t frames = 0;  // beyond kMostFrames
    std::uint64_t lost = 0;    // events that the trace says are lost
  };
  static constexpr std::size_t kMostFrames = std::size_t{1} << 22U;
  static constexpr std::size_t kMostStacks = std::size_t{1} << 16U;
  static constexpr std::size_t kMostBefore = std::size_t{1} << 20U;

  /// `before`: what an OpenFrames with `finds_before` has found in the same events; empty if
  /// nobody has looked. `visitor` and `sources` must outlive it.
  OpenFrames(std::uint32_t thread, const Rules& rules, const Sources& sources, CallVisitor& visitor,
             std::span<const FrameBefore> before = {});

  void add(const core::TraceEvent& event);
  /// So many events are missing here.
  void lose(std::uint64_t events);
  /// There are no more events: all frames close as at-end at the time of the last one.
  void finish();

  [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }
  [[nodiscard]] const Skipped& skipped() const { return skipped_; }
  /// Of `finds_before`: by segment; of one stack outermost first.
  [[nodiscard]] std::vector<FrameBefore> before();
  /// Likewise, by the number of the entry among those of the thread.
  [[nodiscard]] ShortCalls short_calls() { return std::move(short_calls_); }
  /// What another one found: nobody is told these calls, and their own time is their callers'.
  /// `calls` must outlive this.
  void leave_out(const ShortCalls& calls) { left_out_ = &calls; }

 private:
  struct Frame {
    std::uint32_t function = 0;
    std::uint32_t sp = 0;
    std::uint32_t segment = 0;
    std::uint64_t entry = 0;  // its number, if it was not before
    bool was_before = false;
    bool is_left_out = false;
    std::int64_t begin_ns = 0;
    std::int64_t self_ns = 0;
    std::optional<std::int64_t> until_ns{};
  };
  struct Stack {
    std::vector<Frame> frames;                  // outermost first
    std::size_t left_out = 0;                   // of them
    std::uint32_t highest_segment = 0;          // of highest_sp
    std::optional<std::uint32_t> highest_sp{};  // of an event in that segment

    /// Frames that are told.
    [[nodiscard]] std::uint32_t depth() const;
    /// The function of the innermost of them.
    [[nodiscard]] std::uint32_t innermost() const;
    /// Of all that was seen of it in the segment.
    [[nodiscard]] bool has_all_below(std::uint32_t sp, std::uint32_t segment) const;
    void raise_highest(std::uint32_t sp, std::uint32_t segment);
  };

  void tell_event();
  void advance(const core::TraceEvent& event);
  void begin_segment();
  void open_frames_before();
  void enter(std::uint32_t number, std::uint32_t function, std::uint32_t sp, bool was_before,
             std::optional<std::uint64_t> argument = {});
  void leave(std::uint32_t function, std::uint32_t sp, TraceClosing closing);
  void leave_unknown(std::uint32_t function, std::uint32_t sp);
  void unwind(std::uint32_t number, std::uint32_t sp, bool also_at_sp);
  void end_function(std::uint32_t function, std::int64_t clock_ns);
  void close_overdue(const core::TraceEvent& event, std::int64_t until_ns);
  void spend_until(std::int64_t ns);
  void close_top(std::uint32_t number, TraceClosing closing);
  [[nodiscard]] TraceClosing closing_of(const Frame& frame, TraceClosing closing) const;
  void close_all();
  void switch_to(std::uint32_t number);

  const std::uint32_t thread_;
  const Rules rules_;
  const Sources& sources_;
  CallVisitor& visitor_;
  std::span<const FrameBefore> before_;  // what is left of it
  std::vector<FrameBefore> found_;
  ShortCalls short_calls_;
  const ShortCalls* left_out_ = nullptr;
  std::uint64_t entries_ = 0;
  std::map<std::uint32_t, Stack> stacks_;
  std::uint32_t on_stack_ = 0;
  std::uint32_t segment_ = 0;
  bool is_new_segment_ = true;
  bool has_time_ = false;
  std::uint64_t stolen_ = 0;  // ticks
  std::int64_t now_ns_ = 0;
  std::int64_t stolen_ns_ = 0;  // what is taken off the clock
  std::size_t frames_ = 0;
  OwnEvents own_;
  Skipped skipped_;
};

}  // namespace sp::profiler
