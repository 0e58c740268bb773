#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/call_query.h"
#include "core/clock.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/instruments/probes/open_calls.h"
#include "supervisor/instruments/probes/probed_code.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

class HitCounter;
struct TracePlace;

/// What a thread's registers have shown of a call, at its first instruction or at its return,
/// before that was executed.
struct SeenCall {
  std::optional<CallTable::Beginning> beginning;  // nothing: it is not to be counted
  std::vector<std::string> results;
  bool result_holds = true;  // what is asked of the result
  std::optional<std::uint64_t> measured;
};

/// What `count` knows of a thread.
struct CountedCalls {
  OpenCalls open;
  SeenCall seen;
};

/// `superprofiler count`: calls are counted at functions' entries alone, and what else is asked of
/// them (core::CallQuery) is read there and, if need be, where they return. Runs on the ptrace
/// thread.
class CallCounter {
 public:
  CallCounter(core::CallQuery query, Outbox& outbox, HitCounter& counter);

  /// Of a process whose calls are to be counted.
  [[nodiscard]] TraceState new_state();

  /// The thread is about to execute the instruction at a breakpoint.
  void look_at(const Tracee& tracee, const BreakpointSite& site,
               const ptrace::Registers& registers) const;
  /// The thread has executed it. `sp` and `to` as FunctionTrace::note() has them.
  void note(Tracee& tracee, const BreakpointSite& site, core::Address sp,
            std::optional<core::Address> to, core::TimePoint now);
  /// The thread was stopped by us for so long.
  static void add_stolen(const Tracee& tracee, core::Duration time);
  /// Delivers what was counted so far.
  void flush(ProbedCode& code);

 private:
  [[nodiscard]] TracePlace place_of(const Tracee& tracee, const BreakpointSite& site) const;
  void look_at_entry(const Tracee& tracee, core::Address function,
                     const ptrace::Registers& registers, SeenCall& seen) const;
  void look_at_return(const Tracee& tracee, const ptrace::Registers& registers,
                      SeenCall& seen) const;
  void begin(Tracee& tracee, const ProbedFunction& function, core::Address sp, core::TimePoint now);
  void end(Tracee& tracee, const OpenCalls::Ended& ended, bool is_tail_call);
  void note_exit(Tracee& tracee, const ProbedFunction& function, const BreakpointSite& site,
                 core::Address sp, core::Address to, core::TimePoint now);

  const core::CallQuery query_;
  Outbox& outbox_;
  HitCounter& counter_;
  const bool is_plain_;
  const bool needs_returns_;
  std::vector<std::size_t> open_;  // the places of results in CallQuery::values
  bool tests_result_ = false;
};

}  // namespace sp::supervisor
