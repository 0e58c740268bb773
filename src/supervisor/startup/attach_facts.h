#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace sp::supervisor {

/// The facts by which the kernel decides whether we may attach to a process: ptrace(2), "Ptrace
/// access mode checking", and Documentation/admin-guide/LSM/Yama.rst.
struct AttachFacts {
  pid_t pid = 0;
  int error = 0;  // errno of the attempt; 0 if there was none

  // ---- the process
  bool exists = false;
  bool hidden = false;  // it exists, but /proc does not show it to us (hidepid)
  std::string name;     // its comm
  pid_t leader = 0;     // the thread group of `pid`; equal to pid for a process
  pid_t parent = 0;
  std::string parent_name;
  char state = '?';  // as in /proc/PID/stat
  pid_t tracer = 0;
  std::string tracer_name;
  uid_t uid = 0;
  bool dumpable = true;
  bool is_kernel_thread = false;
  bool is_32_bit = false;
  bool is_ours = false;  // a thread of superprofiler
  std::uint64_t permitted_capabilities = 0;
  bool has_seccomp_filter = false;
  unsigned threads = 0;

  // ---- us
  uid_t our_uid = 0;
  std::uint64_t our_permitted_capabilities = 0;
  bool may_trace_all = false;      // CAP_SYS_PTRACE is effective
  bool root_may_trace_all = true;  // the capability is in our bounding set: sudo would give it
  int filter_error = 0;            // see probe_filter(): a seccomp filter denies us ptrace

  // ---- the machine
  std::optional<int> yama_scope;  // nothing if the kernel has no Yama
  bool in_container = false;
};

[[nodiscard]] AttachFacts read_attach_facts(pid_t pid, int error);

/// The facts about us and the machine only, with pid 0.
[[nodiscard]] AttachFacts read_own_facts();

}  // namespace sp::supervisor
