#pragma once

#include <optional>

/// Tests with processes of our own what copies of hot code need from the kernel. Independent of
/// ptrace.h and its thread, as ptrace_probe.h is.
namespace sp::supervisor {

/// An errno where something was refused, 0 where it works.
struct CopyFacts {
  bool by_segment = false;          // copies count by gs, else atomically
  int gs_base = 0;                  // set by ptrace in a thread, it stays
  int counter_memory = 0;           // memfd_create(2), mapped shared
  int executable_memory = 0;        // private, anonymous, r-x
  int executable_file = 0;          // a memfd, mapped r-x: where anonymous memory is refused
  std::optional<int> memfd_noexec;  // vm.memfd_noexec, Linux 6.3
  int membarrier = 0;               // MEMBARRIER_CMD_GLOBAL: refused with nohz_full CPUs
  int traced_writes = 0;            // to read-only pages through /proc/PID/mem, by the tracer
  int untraced_writes = 0;          // by any other process that may trace, as the guardian is
};

/// Tries each in child processes, which it ends.
[[nodiscard]] CopyFacts look_at_copies();

}  // namespace sp::supervisor
