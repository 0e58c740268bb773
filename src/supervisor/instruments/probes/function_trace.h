#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/address.h"
#include "core/clock.h"
#include "core/run_facts.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/instruments/probes/probed_code.h"
#include "supervisor/instruments/probes/thread_trace.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

class HitCounter;
struct TracePlace;

/// --trace: entries and exits of functions become events, by breakpoints on them instead of probes
/// for blocks. Runs on the ptrace thread, but for fill().
class FunctionTrace {
 public:
  FunctionTrace(const TraceLimits& limits, Outbox& outbox, HitCounter& counter)
      : limits_(limits), outbox_(outbox), counter_(counter) {}

  /// The thread is about to execute the instruction at a breakpoint.
  void look_at(const Tracee& tracee, const ptrace::Registers& registers) const;
  /// The thread has executed the instruction at `site`, before which its stack pointer was `sp`,
  /// and goes on at `to`; nothing: at the next one.
  void note(Tracee& tracee, const BreakpointSite& site, core::Address sp,
            std::optional<core::Address> to, core::TimePoint now);
  /// The thread is about to run again after a stop that was no hit.
  static void end_stop(Tracee& tracee);
  /// The thread was stopped by us for so long.
  static void add_stolen(const Tracee& tracee, core::Duration time);
  /// No thread of the process has any more events: TraceEventKind::end (exec) or off.
  static void finish(const TracedProcess& process, core::TraceEventKind kind, core::TimePoint now);
  /// Delivers the events so far if the last ones were long ago.
  void flush_if_due(ProbedCode& code);
  /// Delivers the events so far.
  void flush(ProbedCode& code);

  /// Any thread.
  void fill(core::Tracing& facts) const { facts = {events_, lost_, too_hot_}; }

 private:
  [[nodiscard]] ThreadTrace& trace_of(Tracee& tracee, core::Address sp);
  void note_exit(Tracee& tracee, ProbedFunction& function, const BreakpointSite& site,
                 core::Address sp, core::Address to, core::TimePoint now);
  void deliver_ended(ProbedCode& code);
  void deliver(ProbedCode& code, ThreadTrace& trace, core::TimePoint now);

  const TraceLimits limits_;
  Outbox& outbox_;
  HitCounter& counter_;
  std::atomic<std::uint64_t> events_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<std::uint64_t> too_hot_{0};
};

}  // namespace sp::supervisor
