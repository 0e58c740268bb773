#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/address.h"
#include "core/instruction.h"
#include "supervisor/breakpoints/breakpoint_table.h"
#include "supervisor/instruments/displaced_step.h"
#include "supervisor/instruments/fork_origins.h"
#include "supervisor/instruments/sigtrap_mask.h"
#include "supervisor/tracees/instrument_state.h"

namespace sp::supervisor {

/// Where a thread is, as far as exact counting goes. Between two of its stops it runs freely
/// through code with breakpoints or, where `stepped`, executes the one instruction `next`.
struct CountedThread : ThreadState {
  bool begun = false;   // its first stop was seen
  bool counted = true;  // false: it is only helped over the breakpoints
  /// CollectSwitch: false while it is in none of the functions.
  bool collects = true;
  std::optional<CallFrame> collected_in;
  std::size_t handlers_before = 0;  // of `interrupted`, when it came there
  bool stepped = false;
  std::optional<core::Instruction> next;
  std::uint64_t times_written = 0;  // CountedCode::times_written() when it ran last

  /// A signal was delivered by a single step; the next stop shows whether it has a handler.
  bool delivering = false;
  bool delivers_hidden = false;  // SIGTRAP was taken out of the handler's mask (handler_masks.h)
  core::Address interrupted_at;
  struct Interrupted {
    core::Address at;
    bool stepped = false;
  };
  std::vector<Interrupted> interrupted;  // by handlers that have not returned yet

  SigtrapMask mask{MaskChanges::seen};
  DisplacedStep displaced;

  /// The system call that it is in.
  struct Syscall {
    SyscallRequest request;
    std::uint64_t insertions = 0;               // of breakpoints, at its entry
    bool sets_trap_handler = false;             // sigaction of SIGTRAP, which has our handler
    std::optional<SignalAction> sets_handler;   // of another signal
    bool clears_handlers = false;               // TaskCall::clears_handlers
    bool emulated = false;                      // the kernel does nothing
    std::optional<core::AddressRange> written;  // through /proc/PID/mem
  };
  std::optional<Syscall> syscall;

  /// The thread stands at the first instruction of the handler of the signal that was delivered.
  void begin_handler(pid_t tid) {
    (void)mask.unblock(tid);
    mask.inherit(delivers_hidden);
  }

  [[nodiscard]] bool counts() const { return counted && collects; }
};

}  // namespace sp::supervisor
