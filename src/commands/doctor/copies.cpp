#include "commands/doctor/copies.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace sp::doctor {
namespace {

using supervisor::CopyFacts;

const std::string kNoCopies = "hot code is not copied: its probes are removed when hot";

std::string without_filter(bool in_container) {
  return in_container ? "docker run --security-opt seccomp=unconfined ..."
                      : "run it outside the sandbox or service that installed the seccomp filter";
}

std::string refused(const std::string& what, int error) {
  return fmt::format("{}: {}", what, std::strerror(error));
}

Finding judge_text_writes(const CopyFacts& facts) {
  const std::string fix = "boot with proc_mem.force_override=always";
  if (facts.traced_writes != 0) {
    return {Level::warn, "text writes",
            refused("/proc/PID/mem does not write to code", facts.traced_writes) +
                "; no block can be counted, only -n works",
            fix};
  }
  if (facts.untraced_writes != 0) {
    return {Level::warn, "text writes",
            refused("only the tracer may write to code", facts.untraced_writes) +
                "; a target whose superprofiler is killed (SIGKILL) keeps its breakpoints",
            fix + ", or profile with -n"};
  }
  return {Level::ok, "text writes", "/proc/PID/mem writes to code, traced or not", ""};
}

Finding judge_gs_base(const CopyFacts& facts, bool in_container) {
  if (!facts.by_segment) {
    return {Level::ok, "copies",
            "with -a, --single=copies or --overhead 0 hot code runs from copies, which count "
            "atomically",
            ""};
  }
  if (facts.gs_base == 0) {
    return {Level::ok, "gs base",
            "can be set by ptrace: copies of hot code count with one instruction", ""};
  }
  return {Level::warn, "gs base",
          refused("cannot be set by ptrace", facts.gs_base) + "; " + kNoCopies,
          without_filter(in_container)};
}

Finding judge_counter_memory(const CopyFacts& facts, bool in_container) {
  if (facts.counter_memory == 0) {
    return {Level::ok, "counters", "memfd_create works", ""};
  }
  return {Level::warn, "counters",
          refused("memfd_create fails", facts.counter_memory) + "; " + kNoCopies,
          without_filter(in_container)};
}

Finding judge_executable_memory(const CopyFacts& facts) {
  if (facts.executable_memory == 0) {
    return {Level::ok, "code memory", "anonymous memory may be executable", ""};
  }
  if (facts.executable_file == 0) {
    return {Level::ok, "code memory",
            refused("anonymous executable memory is refused", facts.executable_memory) +
                "; a memfd is used",
            ""};
  }
  const bool is_set = facts.memfd_noexec.value_or(0) >= 2;
  const std::string setting =
      is_set ? fmt::format(" (vm.memfd_noexec = {})", *facts.memfd_noexec) : "";
  return {Level::warn, "code memory",
          refused("executable memory is refused, a memfd too" + setting, facts.executable_memory) +
              "; " + kNoCopies,
          is_set ? "sudo sysctl vm.memfd_noexec=1 (until the next boot)"
                 : "sudo setsebool deny_execmem 0 (SELinux)"};
}

Finding judge_membarrier(const CopyFacts& facts, bool in_container) {
  if (facts.membarrier == 0) {
    return {Level::ok, "membarrier", "MEMBARRIER_CMD_GLOBAL works", ""};
  }
  return {Level::warn, "membarrier",
          refused("no MEMBARRIER_CMD_GLOBAL", facts.membarrier) +
              "; a target whose superprofiler is killed is restored 100 ms later",
          facts.membarrier == EINVAL ? "boot without nohz_full=, if that is too long"
                                     : without_filter(in_container)};
}

}  // namespace

std::vector<Finding> judge(const CopyFacts& facts, bool in_container) {
  return {judge_text_writes(facts), judge_gs_base(facts, in_container),
          judge_counter_memory(facts, in_container), judge_executable_memory(facts),
          judge_membarrier(facts, in_container)};
}

}  // namespace sp::doctor
