#pragma once

#include <sys/types.h>

#include <optional>

#include "core/address.h"
#include "supervisor/instruments/instrumented_code.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

/// A thread's execution of the one instruction under a breakpoint, where the tracer cannot emulate
/// it: in a relocated copy (gdb's displaced stepping), or, where there can be no copy, in place
/// with the breakpoint removed for that moment. Also of an atomic sequence (LL/SC), which runs
/// through in a copy to a breakpoint behind it. The owner lets the thread run.
class DisplacedStep {
 public:
  [[nodiscard]] bool is_active() const { return step_.has_value(); }
  /// The address of the instruction; only while active.
  [[nodiscard]] core::Address site() const { return step_->site; }
  /// The last instruction of the atomic sequence that the thread runs through, else nothing.
  [[nodiscard]] std::optional<core::Address> end_of_sequence() const {
    return step_ ? step_->end_of_sequence : std::nullopt;
  }
  /// The thread is still in the copy.
  [[nodiscard]] bool is_in_copy(InstrumentedCode& code, core::Address pc) const {
    return code.xol().at(pc).has_value();
  }

  /// `copy`: InstrumentedCode::copy_of(site). `registers`: the thread's, with the pc at the site's
  /// instruction. Sets them.
  void begin(InstrumentedCode& code, BreakpointSite& site, std::optional<core::Address> copy,
             pid_t tid, ptrace::Registers& registers);
  /// The same for the atomic sequence of `length` bytes at pc. False where it cannot be copied:
  /// nothing was begun.
  [[nodiscard]] bool begin_sequence(InstrumentedCode& code, std::size_t length, pid_t tid,
                                    ptrace::Registers& registers);
  /// The instruction was executed: the breakpoint is inserted again where it is wanted. Returns the
  /// instruction's address.
  core::Address finish(InstrumentedCode& code);
  /// The thread has left the copy of an atomic sequence.
  void leave() { step_.reset(); }
  /// Something else stopped the thread first: the instruction is still to be executed.
  void cancel(InstrumentedCode& code, pid_t tid);

 private:
  struct Step {
    core::Address site;
    ptrace::Registers before{};  // in front of the instruction
    bool in_copy = false;
    std::optional<core::Address> end_of_sequence;
  };
  std::optional<Step> step_;
};

/// A thread that runs freely through a relocated copy, not step by step, has stopped in it.
struct LeftCopy {
  core::Address site;
  bool executed = false;  // the instruction; only the jump back was left
};
/// Moves the pc of a stopped thread from a copy to the original code. Nothing where it was in none.
[[nodiscard]] std::optional<LeftCopy> leave_copy(InstrumentedCode& code, pid_t tid);

}  // namespace sp::supervisor
