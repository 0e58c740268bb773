#pragma once

#include <sys/types.h>

#include "core/clock.h"
#include "core/result.h"

/// Tries out on processes of our own what the kernel lets us do. Independent of ptrace.h and its
/// thread: each probe that traces does so from a process that it starts and ends.
namespace sp::supervisor {

/// The errno with which a seccomp filter answers every ptrace call of ours (EPERM in most
/// containers' profiles, ENOSYS); 0 where ptrace reaches the kernel. Starts nothing.
[[nodiscard]] int probe_filter();

/// Attaches to `pid` without stopping it, from a process that ends at once and so lets it go.
/// Errors: those of PTRACE_SEIZE (EPERM, ESRCH, EACCES).
[[nodiscard]] core::Result<void> probe_attach(pid_t pid);

/// What stopping and resuming a busy thread costs the tracer, the median of many rounds.
struct StopCost {
  core::Duration same_cpu{};
  core::Duration other_cpu{};  // 0 where we may use one CPU only
};
/// Launches a child, attaches to it and stops it `rounds` times on each placement. Errors: what
/// refused to be done.
[[nodiscard]] core::Result<StopCost> probe_stop_cost(int rounds);

/// Is launching without address randomisation allowed? False in Docker's default profile.
[[nodiscard]] bool probe_no_aslr();

/// Does process_vm_readv(2) reach the kernel?
[[nodiscard]] bool probe_memory_reads();

}  // namespace sp::supervisor
