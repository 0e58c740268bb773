#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/native.h"
#include "core/address.h"
#include "core/clock.h"
#include "core/result.h"
#include "supervisor/linux/stepped_threads.h"

/// All ptrace(2) and wait(2) calls of superprofiler. The kernel binds a tracee to the thread that
/// attached or forked it and gives any other thread ESRCH, which also means "has died". So each
/// call here checks that it runs on the thread that called bind_to_this_thread().
///
/// ESRCH, the tracee is gone, is an ordinary error of every call: a tracee can be killed between
/// any two of them.
namespace sp::supervisor::ptrace {

using Registers = arch::Native::Registers;

void bind_to_this_thread();
/// Lists the threads that are being single-stepped there, if Native::kStepOutlivesTracer; null: no
/// longer.
void list_steps_in(SteppedThreads* steps);

/// Which children of a tracee are traced.
struct FollowOptions {
  bool forks = true;
};

/// Attaches to one thread without stopping it. Errors: EPERM (see refusal.h), ESRCH.
[[nodiscard]] core::Result<void> seize(pid_t tid, FollowOptions follow);

/// Resumes a stopped thread, delivering `signal` (0: none).
[[nodiscard]] core::Result<void> resume(pid_t tid, int signal);
/// The same, but the thread stops at the entry of its next system call, or at the exit of the one
/// that it is in; see syscall_stop().
[[nodiscard]] core::Result<void> resume_to_syscall(pid_t tid, int signal);
/// The same, but the thread stops after one instruction or, if `signal` has a handler, at the first
/// instruction of that.
[[nodiscard]] core::Result<void> step(pid_t tid, int signal);
/// Leaves a thread in its group-stop, from which SIGCONT can wake it.
[[nodiscard]] core::Result<void> listen(pid_t tid);
/// Detaches a stopped thread, delivering `signal` (0: none).
[[nodiscard]] core::Result<void> detach(pid_t tid, int signal);
/// Requests a stop of a running thread. It reports PTRACE_EVENT_STOP, or whatever stop comes first.
[[nodiscard]] core::Result<void> interrupt(pid_t tid);

[[nodiscard]] core::Result<Registers> registers(pid_t tid);
/// Of a stopped thread.
[[nodiscard]] inline bool runs_32_bit_code(pid_t tid) {
  const auto now = registers(tid);
  return !now && now.error().code == ENOTSUP;
}
[[nodiscard]] core::Result<void> set_registers(pid_t tid, const Registers& registers);
/// Another register set, by its number in elf.h (NT_PRFPREG and others); at most 16 KiB of it.
/// Errors besides ESRCH: EINVAL, ENODEV: this CPU or kernel has no such set.
[[nodiscard]] core::Result<std::vector<std::byte>> register_set(pid_t tid, int set);
[[nodiscard]] core::Result<void> write_register_set(pid_t tid, int set,
                                                    std::span<const std::byte> content);
[[nodiscard]] core::Result<siginfo_t> signal_info(pid_t tid);
[[nodiscard]] core::Result<void> set_signal_info(pid_t tid, const siginfo_t& info);
/// The signals that a stopped thread blocks, bit N-1 for signal N.
inline constexpr std::uint64_t kAllSignals = ~std::uint64_t{0};
[[nodiscard]] core::Result<std::uint64_t> signal_mask(pid_t tid);
[[nodiscard]] core::Result<void> set_signal_mask(pid_t tid, std::uint64_t mask);

/// What a syscall-stop is. Linux 5.3; `none` if the kernel cannot tell.
struct SyscallStop {
  enum class Side { none, entry, exit };
  Side side = Side::none;
  std::uint64_t number = 0;                  // at an entry
  std::array<std::uint64_t, 6> arguments{};  // at an entry
  std::int64_t result = 0;                   // at an exit: negative errno where it failed
};
[[nodiscard]] core::Result<SyscallStop> syscall_stop(pid_t tid);
/// Skips the system call of a thread that is at its entry with these registers: the thread sees
/// `result`.
[[nodiscard]] core::Result<void> skip_syscall(pid_t tid, const Registers& registers,
                                              std::int64_t result);
/// System calls of the thread may be sent to a SIGSYS handler of its own, depending on where they
/// are made (PR_SET_SYSCALL_USER_DISPATCH). False where the kernel cannot tell (before Linux 6.4).
[[nodiscard]] bool dispatches_syscalls(pid_t tid);
/// The number that comes with an event: new tid, former tid of an exec, exit status.
[[nodiscard]] core::Result<unsigned long> event_message(pid_t tid);

/// One report of wait(2).
struct Report {
  pid_t tid = 0;
  int status = 0;  // as wait(2) gives it; see wait_status.h
  /// Of the end of a process: for how long it was on CPUs, the children included that it has waited
  /// for. Not set by look().
  core::Duration cpu{};
};

/// Waits for a thread, or with wait_any() for any child or tracee. Nothing if a signal came first
/// (EINTR) or, without `block`, if there is no report now. Error: ECHILD, nothing is left to wait
/// for.
[[nodiscard]] core::Result<std::optional<Report>> take(pid_t tid, bool block);
[[nodiscard]] inline core::Result<std::optional<Report>> wait_any(bool block) {
  return take(-1, block);
}
/// The same, but a stop is not consumed: it is reported again until its thread is resumed. If we
/// die before that, the kernel delivers the stop's signal as if it had not been reported; a
/// consumed stop's signal would be lost.
[[nodiscard]] core::Result<std::optional<Report>> watch_any(bool block);

/// The same for one thread, without waiting.
[[nodiscard]] core::Result<std::optional<Report>> watch(pid_t tid);
/// What it has reported, without consuming anything. Error ECHILD: it is no tracee of ours.
[[nodiscard]] core::Result<std::optional<Report>> look(pid_t tid);

/// Waits for a report of one thread, which was resumed for a moment. Consumes nothing: its end, or
/// PTRACE_EVENT_EXIT, stays to be waited for.
[[nodiscard]] core::Result<Report> wait_for(pid_t tid);
/// The kernel still owes us a report of the task: we trace it, and have not waited for its end. Not
/// true of a task that is gone, nor of another one with its tid that is not ours.
[[nodiscard]] bool will_report(pid_t tid);

}  // namespace sp::supervisor::ptrace
