#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "core/clock.h"
#include "core/messages.h"
#include "supervisor/copies/copy_space.h"
#include "supervisor/copies/thread_moves.h"
#include "supervisor/instruments/displaced_step.h"
#include "supervisor/instruments/probes/probed_code.h"
#include "supervisor/instruments/probes/thread_trace.h"
#include "supervisor/instruments/probes/trace_triggers.h"
#include "supervisor/instruments/sigtrap_mask.h"
#include "supervisor/tracees/instrument_state.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

struct CountedCalls;

/// Where a thread stands in a copy, and where that is in the original.
struct OutOfCopy {
  ptrace::Registers inside;
  ptrace::Registers outside;
  CountCorrection correction;   // once it is put there
  bool is_transferred = false;  // core::CopyPoint's
};

/// Where a thread is, as far as probes go (default mode).
struct ProbedThread : ThreadState {
  bool counted = true;  // false: it is only helped over the breakpoints
  /// Of a displaced transfer, stepped because its destination is to be seen.
  DisplacedStep displaced;
  /// It is single-stepped for a while to see where it goes.
  std::optional<core::Stepped> window;
  /// It was in a step when something else stopped it: that step's end may still be reported.
  bool was_stepped = false;
  std::uint32_t hits_in_sequences = 0;  // see keeps_sequence_from_ending()
  SigtrapMask mask{MaskChanges::unseen};
  bool mask_is_known = false;  // SIGTRAP was unblocked, if it was blocked
  /// A signal is being delivered with a step, to the first instruction of its handler.
  int delivering = 0;
  core::Address delivered_at;  // pc before that step
  /// The handler of that signal, if SIGTRAP was taken out of its mask (handler_masks.h).
  std::optional<core::Address> hidden_handler;
  bool clears_handlers = false;  // the task that it is about to make has no SIGTRAP handler
  struct Hit {
    core::TimePoint begin;  // heard of
    core::TimePoint end;    // let run again
  };
  Hit last_hit;
  core::TimePoint resumed_at;  // from its last hit; zero: it had another stop since

  /// It was put into a function's copy while the trap of a breakpoint was not served: that of the
  /// instruction there. Zero: not so.
  core::Address moved_trap;
  /// It is stopped in a function's copy.
  std::optional<OutOfCopy> out_of_copy;
  /// Where it counts; null: it has no counters.
  std::shared_ptr<CopySpace> counts_in;
  pid_t tid = 0;

  std::shared_ptr<ThreadTrace> trace;  // --trace: its events; null: it has none
  /// Events that found no room in its ring, behind so many that are still to be read.
  struct RingLoss {
    std::uint64_t behind = 0;
    std::uint64_t lost = 0;
  };
  std::deque<RingLoss> ring_losses;
  std::shared_ptr<CountedCalls> calls;       // count: its calls
  core::Address returns_to;                  // from the function at whose entry it is
  TraceTriggers::Arguments arguments{};      // of that function, where somebody looks at them
  std::optional<core::ProgramEvent> says{};  // by the instruction at which it is
  /// It comes to that place, or has a hit there that is made again, with that stack pointer: no
  /// call.
  struct ComesAgain {
    core::Address at;
    core::Address sp;
    bool operator==(const ComesAgain&) const = default;
  };
  ComesAgain comes_again;
  core::Address last_place;  // of a trace, at which it had a hit
  core::Address sp_of_last_place;
  core::TimePoint last_event;  // that a copy has written
  /// The call that it steps over takes the right to write to code there.
  std::optional<core::AddressRange> ends_writes;
  core::TimePoint stopped_at;  // by something else than a hit, and not resumed since

  [[nodiscard]] const ptrace::Registers* registers_without_us() const override {
    return out_of_copy ? &out_of_copy->outside : nullptr;
  }

  ProbedThread() = default;
  ProbedThread(const ProbedThread&) = delete;
  ProbedThread& operator=(const ProbedThread&) = delete;
  ~ProbedThread() override {
    if (counts_in != nullptr) {
      counts_in->slots->release(tid);
    }
    if (trace != nullptr) {
      trace->finish(core::TraceEventKind::end, core::Clock::now());
    }
  }
};

/// The probes' state of a process's code and of a thread; both must exist.
[[nodiscard]] inline ProbedCode& probed_code(const TracedProcess& process) {
  return static_cast<ProbedCode&>(*process.code_state);
}
[[nodiscard]] inline ProbedThread& probed_thread(const Tracee& tracee) {
  return static_cast<ProbedThread&>(*tracee.thread_state);
}

}  // namespace sp::supervisor
