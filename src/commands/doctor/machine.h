#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/doctor/doctor.h"
#include "core/result.h"
#include "supervisor/startup/attach_facts.h"
#include "supervisor/startup/copy_probe.h"
#include "supervisor/startup/ptrace_probe.h"

namespace sp::doctor {

/// Facts about the machine and about superprofiler's rights on it.
struct MachineFacts {
  supervisor::AttachFacts own;  // read_own_facts()
  std::string kernel;           // its release
  std::string cpu;              // from uname(2)
  core::Result<supervisor::StopCost> stop_cost;
  bool seccomp_filter = false;
  bool memory_reads = false;
  bool no_aslr = false;
  bool map_files = false;           // /proc/PID/map_files can be opened
  bool root_may_map_files = false;  // root has the capability for it
  std::optional<int> perf_paranoid;
  int cpus_allowed = 0;
  int cpus_online = 0;
  std::string clock_source;  // "" if unknown
  supervisor::CopyFacts copies;
  bool debug_files = false;   // /usr/lib/debug/.build-id
  std::string debug_servers;  // DEBUGINFOD_URLS; "" if it is not set
  bool debug_server_library = false;
};

[[nodiscard]] MachineFacts look_at_machine();
[[nodiscard]] std::vector<Finding> judge(const MachineFacts& facts);

}  // namespace sp::doctor
