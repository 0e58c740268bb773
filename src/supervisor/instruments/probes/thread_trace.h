#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "core/function_trace.h"
#include "core/ids.h"

namespace sp::supervisor {

/// What is kept of a thread's events.
struct TraceLimits {
  core::WhenFull when_full = core::WhenFull::flush;
  std::size_t buffer = 65'536;    // events of a thread, with WhenFull::keep and discard
  core::Duration min_duration{};  // shorter calls leave nothing
  std::uint32_t max_depth = 0;    // deeper calls leave nothing; 0: any depth
  bool has_sites = false;         // entries have where the call returns to instead of a time
  bool waits = false;             // copies wait for room where they write faster than we read
};

/// Entries and exits of one thread, as events that were not delivered yet. Knows which calls it is
/// in, as far as they were entered since the trace began. Functions are numbers of the thread's
/// ProbedCode. Pure.
class ThreadTrace {
 public:
  ThreadTrace(core::ProcessId process, core::ThreadId thread, const TraceLimits& limits)
      : process_(process), thread_(thread), limits_(limits) {}

  /// `sp` is the stack pointer at the function's first instruction, and at its return.
  /// `site`: where it returns to. `is_watched`: take_ended() tells when the call has ended.
  /// `argument`: its first one, if that is logged.
  void enter(std::uint32_t function, core::Address sp, core::TimePoint at, core::Address site = {},
             bool is_watched = false, std::optional<std::uint64_t> argument = {});
  /// The function was entered before the thread was traced, and its frame is open, within those
  /// that were told before it. Nothing happens if a call that was entered since is open on the
  /// stack.
  void open(std::uint32_t function, core::Address sp, core::TimePoint at, core::Address site);
  /// The next entry is the kernel's call of a signal's handler.
  void expect_handler() { handler_comes_ = true; }
  /// Which function returns there: one that a part of it returns from is the caller's innermost.
  void leave(std::uint32_t function, bool is_part, core::Address sp, core::TimePoint at) {
    close(core::TraceEventKind::ret, function, is_part, sp, at);
  }
  /// The function jumps to another one's entry.
  void jump(std::uint32_t function, bool is_part, core::Address sp, core::TimePoint at) {
    close(core::TraceEventKind::tail, function, is_part, sp, at);
  }
  /// Control is at a landing pad of the function.
  void resume(std::uint32_t function, core::Address sp, core::TimePoint at);
  /// An event of the program's own.
  void note(const core::ProgramEvent& event, core::TimePoint at);
  /// So many events found no room elsewhere, behind those so far.
  void lose(std::uint64_t events);
  /// The thread was stopped by us for so long, `since` then: what happened before may be noted
  /// later.
  void add_stolen(core::Duration time, core::TimePoint since = {}) {
    constexpr std::size_t kMost = 1'024;  // a thread may have no events for long
    if (stops_.size() == kMost) {
      settle(stops_.front().first);
    }
    stops_.emplace_back(since, time);
  }
  /// Nothing comes of the function any more.
  void end_function(std::uint32_t function, core::TimePoint at);
  /// The thread's events end: TraceEventKind::end or off.
  void finish(core::TraceEventKind kind, core::TimePoint at);

  /// The thread is not traced from now on (off). Calls are still followed, and leave nothing.
  void pause(core::TimePoint at);
  /// It is traced from now on (on). Open calls were entered before.
  void begin(core::TimePoint at);
  /// Forgets all events so far, and how many there were. What comes begins with `on`.
  void clear(core::TimePoint at);

  /// A watched call.
  struct EndedCall {
    std::uint32_t function = 0;
    core::Duration took{};    // without stolen time
    std::uint32_t depth = 0;  // calls of the function that were open, this one included
  };
  /// Those that have ended since the last call.
  [[nodiscard]] std::vector<EndedCall> take_ended() { return std::exchange(ended_, {}); }
  /// The watched calls that are open, as if they ended.
  [[nodiscard]] std::vector<EndedCall> open_calls(core::TimePoint now);
  /// Calls of the function that are open where the thread is, with `sp` in a callee of theirs.
  [[nodiscard]] std::uint32_t depth_of(std::uint32_t function, core::Address sp) const;

  /// The function was entered with another stack pointer than it has now: this is no tail call.
  [[nodiscard]] bool is_inside(std::uint32_t function, core::Address sp) const;
  /// False if it has to be looked for: use_stack().
  [[nodiscard]] bool is_on_known_stack(core::Address sp);
  /// False: is_on_known_stack() changes the stack.
  [[nodiscard]] bool is_on_same_stack(core::Address sp) const {
    return stacks_[stack_].mapped.contains(sp);
  }
  /// No call is open on the stack, and the last event was on another one.
  [[nodiscard]] bool is_elsewhere() const {
    return stack_ != last_stack_ && stacks_[stack_].open.empty();
  }
  /// `mapped` is the mapping that holds the thread's stack pointer; one that `grows` may have been
  /// smaller.
  void use_stack(core::AddressRange mapped, bool grows);

  struct OpenCall {
    std::uint32_t function = 0;
    core::Address sp;
    core::Address site;
  };
  /// Those on the stack that the thread is on, outermost first.
  [[nodiscard]] std::vector<OpenCall> open_on_stack() const;
  [[nodiscard]] core::AddressRange stack() const { return stacks_[stack_].mapped; }

  [[nodiscard]] core::ProcessId process() const { return process_; }
  [[nodiscard]] core::ThreadId thread() const { return thread_; }
  [[nodiscard]] std::size_t size() const { return events_.size(); }
  [[nodiscard]] bool has_news() const { return !events_.empty() || lost_ != 0; }
  struct Taken {
    std::vector<core::TraceEvent> events;
    std::uint64_t first = 0;  // the number of the first one
    std::uint64_t lost = 0;   // just before it
  };
  [[nodiscard]] Taken take();

 private:
  struct Frame {
    std::uint32_t function = 0;
    core::Address sp;
    core::Address site;  // where it returns to, if that is known
    core::TimePoint begin;
    core::Duration stolen{};  // by then
    bool is_written = false;
    bool is_lost = false;    // there was no room
    bool is_before = false;  // its events are to begin with its return
    bool is_watched = false;
    std::uint32_t depth = 0;  // of a watched one
    std::uint64_t event = 0;  // the number of its entry
    // What stood before that, and what was known then.
    std::uint64_t begins = 0;
    core::Duration written_stolen{};
    std::size_t written_stack = 0;
  };
  struct Stack {
    core::AddressRange mapped;
    std::vector<Frame> open;
  };

  void close(core::TraceEventKind kind, std::uint32_t function, bool is_part, core::Address sp,
             core::TimePoint at);
  [[nodiscard]] std::vector<Frame>& frames() { return stacks_[stack_].open; }
  /// Stops that had begun by then are stolen time.
  void settle(core::TimePoint at) {
    for (; !stops_.empty() && stops_.front().first <= at; stops_.pop_front()) {
      stolen_ += stops_.front().second;
    }
  }
  /// False: there was no room.
  bool write(core::TraceEventKind kind, std::uint32_t function, core::Address sp,
             std::uint64_t word, std::optional<std::uint64_t> argument = {});
  void leave_hole(std::uint64_t events);
  /// Events that are to be none.
  void take_back(std::uint64_t from);
  void drop_oldest();
  void remove_first(std::size_t count);
  void pass(const core::TraceEvent& event);
  [[nodiscard]] std::uint64_t next() const { return first_ + events_.size(); }

  void forget_idle_stacks();
  /// Comes before every event.
  void leave_handlers(core::TimePoint at);
  void pop(std::vector<Frame>& frames, core::TimePoint at);
  /// Open calls have no events so far.
  void forget_entries();

  core::ProcessId process_;
  core::ThreadId thread_;
  TraceLimits limits_;
  std::vector<Stack> stacks_{Stack{}};
  std::size_t stack_ = 0;
  std::size_t last_stack_ = 0;                // of the last event
  std::optional<std::size_t> handlers_on_{};  // the stack that a handler has to itself
  bool handler_comes_ = false;
  std::size_t written_stack_ = 0;
  std::uint32_t first_stack_ = 0;   // that the thread was on before the first of events_
  std::uint64_t first_stolen_ = 0;  // ticks, as the last stolen event before them said
  std::vector<core::TraceEvent> events_;
  std::uint64_t first_ = 0;  // the number of the first of events_
  std::uint64_t lost_ = 0;   // before it, since take()
  struct Hole {
    std::uint64_t before = 0;  // the number of the event behind it
    std::uint64_t lost = 0;
  };
  std::deque<Hole> holes_;         // behind the first of events_
  std::uint64_t end_of_hole_ = 0;  // the number of the event behind the last one
  std::uint64_t delivered_ = 0;    // events that were taken, and lost before them
  std::size_t own_ = 0;            // of events_: no stolen and stack events, which come with others
  std::uint64_t kept_ = 0;         // as own_, of the whole thread
  core::Duration stolen_{};
  std::deque<std::pair<core::TimePoint, core::Duration>> stops_;  // not in it yet
  core::Duration written_stolen_{};
  bool is_over_ = false;  // off or end is the last event
  bool is_paused_ = false;
  std::vector<EndedCall> ended_;
};

}  // namespace sp::supervisor
