#pragma once

#include <cstdint>
#include <optional>

#include "core/address.h"
#include "core/clock.h"
#include "supervisor/instruments/exact/flow_recorder.h"
#include "supervisor/instruments/syscall_gates.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// What a system call of the target means to exact counting: it changes maps or the signal mask,
/// returns from a handler, asks for SIGTRAP's action, and shows that there is code behind it. Runs
/// on the ptrace thread; the caller lets the thread run.
class SyscallEffects {
 public:
  explicit SyscallEffects(FlowRecorder& flow) : flow_(flow) {}

  /// Puts gates where the process changes signal masks, once its libc is mapped, before it comes
  /// there. Call it when the handler for SIGTRAP is installed.
  void insert_gates(const Tracee& tracee);
  /// The thread is in a system-call stop.
  void on_stop(Tracee& tracee, core::TimePoint now);
  /// The same once the process is to be detached: what the call changes is the program's own.
  static void on_stop_to_detach(Tracee& tracee);
  /// The thread stands at a gate (CountedCode::insert_gate()). False where the call is another one
  /// than it was then: it is to be made.
  [[nodiscard]] static bool emulate_at_gate(Tracee& tracee, const BreakpointSite& gate,
                                            ptrace::Registers& registers);

 private:
  void on_entry(Tracee& tracee, const SyscallRequest& request);
  void on_exit(Tracee& tracee, core::Address pc, std::int64_t result, core::TimePoint now);
  static void after_mask_and_action(Tracee& tracee, const CountedThread::Syscall& syscall,
                                    std::int64_t result);
  void on_sigreturn(Tracee& tracee, core::Address pc, core::TimePoint now);
  [[nodiscard]] static bool emulate_mask_change(Tracee& tracee, const SyscallRequest& request);
  std::optional<core::AddressRange> before_memory_access(const Tracee& tracee,
                                                         const SyscallRequest& request);
  void forget_written(const Tracee& tracee, core::AddressRange range);
  void before_maps_change(const Tracee& tracee, const SyscallRequest& request);
  void after_maps_change(const Tracee& tracee, const SyscallRequest& request, std::int64_t result);
  static void before_task(const Tracee& tracee, CountedThread::Syscall& syscall);

  FlowRecorder& flow_;
  SyscallGates gates_{nullptr};
};

}  // namespace sp::supervisor
