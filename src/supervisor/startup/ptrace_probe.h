#pragma once

#include <sys/types.h>

#include "core/clock.h"
#include "core/result.h"

/// Tests with processes of our own what the kernel allows us. Independent of ptrace.h and its
/// thread: each probe that traces does so from a process that it starts and ends.
namespace sp::supervisor {

/// The errno with which a seccomp filter refuses all our ptrace calls (EPERM in most containers'
/// profiles, or ENOSYS); 0 if ptrace reaches the kernel. Starts no process.
[[nodiscard]] int probe_filter();

/// Attaches to `pid` without stopping it, from a process that ends at once and so detaches.
/// Errors: those of PTRACE_SEIZE (EPERM, ESRCH, EACCES).
[[nodiscard]] core::Result<void> probe_attach(pid_t pid);

/// What stopping and resuming a busy thread costs the tracer: the median of many rounds.
struct StopCost {
  core::Duration same_cpu{};
  core::Duration other_cpu{};  // 0 if we may use one CPU only
};
/// Starts a child, attaches to it and stops it `rounds` times in each placement. Errors: those of
/// fork(2) and ptrace(2).
[[nodiscard]] core::Result<StopCost> probe_stop_cost(int rounds);

/// Whether we may launch without address randomisation. False in Docker's default profile.
[[nodiscard]] bool probe_no_aslr();

/// Whether process_vm_readv(2) reaches the kernel.
[[nodiscard]] bool probe_memory_reads();

}  // namespace sp::supervisor
