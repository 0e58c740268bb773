#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "core/run_facts.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/channels/trace_requests.h"
#include "supervisor/copies/tick_clock.h"
#include "supervisor/instruments/fork_origins.h"
#include "supervisor/instruments/probes/probed_code.h"
#include "supervisor/instruments/probes/thread_trace.h"
#include "supervisor/instruments/probes/trace_learning.h"
#include "supervisor/instruments/probes/trace_triggers.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

class HitCounter;
struct EventPlace;
struct TracePlace;

/// --trace: entries and exits of functions become events, by breakpoints on them instead of probes
/// for blocks. Runs on the ptrace thread, but for fill().
class FunctionTrace {
 public:
  /// What triggers set off goes to `requests`.
  FunctionTrace(const TraceLimits& limits, std::vector<core::TraceTrigger> triggers, Outbox& outbox,
                HitCounter& counter, TraceRequests& requests)
      : limits_(limits),
        triggers_(std::move(triggers)),
        outbox_(outbox),
        counter_(counter),
        requests_(requests) {}

  /// Functions may run from copies that write their events; see function_trace_copies.cpp.
  void use_copies(TraceeTable& tracees) { tracees_ = &tracees; }
  [[nodiscard]] bool uses_copies() const { return tracees_ != nullptr; }
  [[nodiscard]] bool waits() const { return limits_.waits; }
  /// Arguments and the program's own events are wanted.
  [[nodiscard]] bool keeps_values() const { return !limits_.has_sites; }
  /// Takes what copies have written. Call it before anything else is noted of the thread.
  /// `is_all`: the thread has executed everything of which there is an event. True if there was so
  /// much that more may come soon.
  bool read_copies(const Tracee& tracee, bool is_all);
  /// The same of all threads of an address space, of which some run.
  void read_copies(ProbedCode& code, bool is_all);
  /// The thread is about to execute the instruction at pc of `registers`, in the original of a
  /// function that runs from a copy: what the copy would have written there is noted.
  void note_unseen(const Tracee& tracee, const core::FunctionCopy& copy,
                   const ptrace::Registers& registers, core::TimePoint now);

  /// With --learn; it outlives this.
  void tell(TraceLearning& learning) { learning_ = &learning; }
  [[nodiscard]] const TraceTriggers& triggers() const { return triggers_; }
  /// Called to switch the trace on or off: in the hit of a thread's entry, or with null.
  using Switch = std::function<void(core::TraceAction, const Tracee* hit)>;
  void on_switch(Switch action) { switch_ = std::move(action); }

  /// The thread is in a function that it has entered before it was traced: ThreadTrace::open().
  /// `stack`: which it is on, if that is known.
  void note_open(const Tracee& tracee, std::uint32_t function, const CallFrame& frame,
                 core::TimePoint now, core::AddressRange stack = {}) {
    trace_of(tracee, frame.sp, now, stack).open(function, frame.sp, now, frame.returns_to);
  }
  /// The thread is about to execute the instruction at a breakpoint.
  void look_at(const Tracee& tracee, const BreakpointSite& site,
               const ptrace::Registers& registers);
  /// The thread has executed the instruction at `site`, before which its stack pointer was `sp`,
  /// and goes on at `to`; nothing: at the next one.
  void note(Tracee& tracee, const BreakpointSite& site, core::Address sp,
            std::optional<core::Address> to, core::TimePoint now);
  /// The thread is about to run again after a stop that was no hit.
  static void end_stop(Tracee& tracee);
  /// A thread's hit is over, and the thread runs again; it was stopped by us for so long.
  static void add_stolen(const Tracee& tracee, core::Duration cost);
  /// No thread of the process has any more events: TraceEventKind::end (exec) or off.
  static void finish(const TracedProcess& process, core::TraceEventKind kind, core::TimePoint now);
  /// Tells that the trace goes off or on, or a process has no part in it any more.
  void tell(core::TraceRequest change, core::TimePoint now);
  /// Delivers the events so far if the last ones were long ago.
  void flush_if_due(ProbedCode& code);
  /// Delivers the events so far.
  void flush(ProbedCode& code);
  /// Forgets them.
  void clear(ProbedCode& code);

  /// Any thread.
  void fill(core::Tracing& facts) const {
    facts = {events_, lost_, too_hot_, 0, overwritten_, cleared_, 0};
  }

 private:
  static constexpr std::size_t kEventsInBatch = 4'096;

  static void steal(const Tracee& tracee, core::Duration time, core::TimePoint since);
  [[nodiscard]] bool is_learning() const { return learning_ != nullptr && learning_->is_on(); }
  [[nodiscard]] ThreadTrace& trace_of(const Tracee& tracee, core::Address sp, core::TimePoint now,
                                      core::AddressRange known_stack = {});
  void note_entry(Tracee& tracee, const ProbedFunction& function, ThreadTrace& trace,
                  core::Address sp, core::TimePoint now);
  /// Tells the trace if the call that it is about to enter is that of a signal's handler.
  static void look_for_handler(const Tracee& tracee, ThreadTrace& trace, core::Address returns_to);
  /// Sets off what the calls that have ended are to set off.
  void note_ended(ProbedCode& code, ThreadTrace& trace);
  void ask(const std::vector<core::TraceAction>& actions, const Tracee* hit);
  void note_exit(Tracee& tracee, ProbedFunction& function, const BreakpointSite& site,
                 core::Address sp, core::Address to, core::TimePoint now);
  void note_event(const Tracee& tracee, const EventPlace& place, core::Address sp,
                  core::Address word, core::TimePoint at);
  void note_lost(const Tracee& tracee, std::uint64_t lost);
  void note_event_of_ring(const Tracee& tracee);
  void deliver_ended(ProbedCode& code);
  void deliver(ProbedCode& code, ThreadTrace& trace, core::TimePoint now);

  const TraceLimits limits_;
  TraceTriggers triggers_;
  Outbox& outbox_;
  HitCounter& counter_;
  TraceRequests& requests_;
  TraceLearning* learning_ = nullptr;
  TraceeTable* tracees_ = nullptr;
  TickClock ticks_;
  Switch switch_;
  std::atomic<std::uint64_t> events_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<std::uint64_t> too_hot_{0};
  std::atomic<std::uint64_t> overwritten_{0};
  std::set<core::Address> overwritten_starts_;  // of the functions that these are
  std::atomic<std::uint64_t> cleared_{0};
};

}  // namespace sp::supervisor
