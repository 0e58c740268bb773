#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/native.h"
#include "core/address.h"
#include "core/result.h"

/// Every ptrace(2) and wait(2) call of superprofiler. The kernel binds a tracee to the thread that
/// attached or forked it and answers any other thread with ESRCH, which is also the word for "has
/// died": so each call here checks that it is on the thread that bind_to_this_thread() named.
///
/// "The tracee is gone" (ESRCH) is an ordinary answer of every call: a tracee can be killed
/// between any two of ours.
namespace sp::supervisor::ptrace {

using Registers = arch::Native::Registers;

void bind_to_this_thread();

/// What children of a tracee are followed; whatever is not followed is never traced.
struct FollowOptions {
  bool forks = true;
};

/// Attaches to one thread without stopping it. Errors: EPERM (see refusal.h), ESRCH.
[[nodiscard]] core::Result<void> seize(pid_t tid, FollowOptions follow);

/// Lets a stopped thread run, delivering `signal` (0: none).
[[nodiscard]] core::Result<void> resume(pid_t tid, int signal);
/// The same, but it stops at the entry to its next system call, or on the way out of the one that
/// it is in; see syscall_stop().
[[nodiscard]] core::Result<void> resume_to_syscall(pid_t tid, int signal);
/// The same, but it stops after one instruction, or where `signal` has a handler at the first
/// instruction of that.
[[nodiscard]] core::Result<void> step(pid_t tid, int signal);
/// Leaves a thread in its group-stop, but lets it hear SIGCONT.
[[nodiscard]] core::Result<void> listen(pid_t tid);
/// Lets a stopped thread go for good, delivering `signal` (0: none).
[[nodiscard]] core::Result<void> detach(pid_t tid, int signal);
/// Asks a running thread to stop; it reports PTRACE_EVENT_STOP, or whatever stop comes first.
[[nodiscard]] core::Result<void> interrupt(pid_t tid);

[[nodiscard]] core::Result<Registers> registers(pid_t tid);
[[nodiscard]] core::Result<void> set_registers(pid_t tid, const Registers& registers);
/// Another register set, by its number in elf.h (NT_PRFPREG and others); at most 16 KiB of it.
/// Errors beside ESRCH: EINVAL, ENODEV: this CPU or kernel has none.
[[nodiscard]] core::Result<std::vector<std::byte>> register_set(pid_t tid, int set);
[[nodiscard]] core::Result<void> write_register_set(pid_t tid, int set,
                                                    std::span<const std::byte> content);
[[nodiscard]] core::Result<siginfo_t> signal_info(pid_t tid);
/// Says in the siginfo of a stop at a breakpoint what pc it was reported with (si_addr, which the
/// kernel leaves empty), for whoever handles the signal where we die: that pc may be another by
/// then.
[[nodiscard]] core::Result<void> mark_trap(pid_t tid, core::Address pc);
[[nodiscard]] core::Result<void> set_signal_info(pid_t tid, const siginfo_t& info);
/// The signals that a stopped thread blocks, bit N-1 for signal N.
[[nodiscard]] core::Result<std::uint64_t> signal_mask(pid_t tid);
[[nodiscard]] core::Result<void> set_signal_mask(pid_t tid, std::uint64_t mask);

/// What a stop at a system call is. Linux 5.3; `none` where the kernel cannot tell.
struct SyscallStop {
  enum class Side { none, entry, exit };
  Side side = Side::none;
  std::uint64_t number = 0;                  // at an entry
  std::array<std::uint64_t, 6> arguments{};  // at an entry
  std::int64_t result = 0;                   // at an exit: negative errno where it failed
};
[[nodiscard]] core::Result<SyscallStop> syscall_stop(pid_t tid);
/// At a call's entry, with the thread's registers there: the kernel makes none, and the thread sees
/// that result.
[[nodiscard]] core::Result<void> skip_syscall(pid_t tid, const Registers& registers,
                                              std::int64_t result);
/// The number that goes with an event: new tid, former tid of an exec, exit status.
[[nodiscard]] core::Result<unsigned long> event_message(pid_t tid);

/// One report of wait(2).
struct Report {
  pid_t tid = 0;
  int status = 0;  // as wait(2) gives it; see wait_status.h
};

/// Waits for any child or tracee. Nothing where a signal came first (EINTR) or, without `block`,
/// where there is none now. Error: ECHILD, there is nothing left to wait for.
[[nodiscard]] core::Result<std::optional<Report>> wait_any(bool block);
/// The same, but a stop is only looked at: it is reported again and again until its thread is let
/// run. Where we die before that the kernel goes on with the stop's signal, as if we had not seen
/// it; of a stop that was waited for it forgets the signal.
[[nodiscard]] core::Result<std::optional<Report>> watch_any(bool block);

/// Waits for this thread alone, which was made to run for a moment. Its end, or its announcement
/// (PTRACE_EVENT_EXIT), stays to be waited for.
[[nodiscard]] core::Result<Report> wait_for(pid_t tid);

}  // namespace sp::supervisor::ptrace
