#include "commands/doctor/machine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "arch/native.h"
#include "commands/doctor/copies.h"
#include "core/fd.h"
#include "core/mapping.h"
#include "supervisor/linux/proc_files.h"
#include "symbols/debug_server.h"

namespace sp::doctor {
namespace {

using supervisor::read_proc;

constexpr int kStopRounds = 200;
constexpr int kCheckpointRestore = 40;  // CAP_CHECKPOINT_RESTORE, Linux 5.9

std::string first_line(const std::string& path) {
  const std::string text = read_proc(path).value_or("");
  return text.substr(0, text.find('\n'));
}

int count_allowed_cpus() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

double in_microseconds(core::Duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

std::string more_rights(const MachineFacts& facts) {
  return facts.own.root_may_trace_all ? "run superprofiler as root (sudo)"
                                      : "docker run --cap-add SYS_PTRACE ..., and root in it";
}

Finding judge_kernel(const MachineFacts& facts) {
  Finding finding{Level::ok, "kernel", fmt::format("Linux {} on {}", facts.kernel, facts.cpu), ""};
  if (facts.cpu != arch::Native::kName) {
    finding.level = Level::fail;
    finding.fact += fmt::format("; this superprofiler is for {}", arch::Native::kName);
    finding.fix = "build superprofiler on this machine";
  }
  return finding;
}

Finding judge_ptrace(const MachineFacts& facts) {
  if (facts.stop_cost) {
    return {Level::ok, "ptrace", "a child was attached to, stopped and resumed", ""};
  }
  Finding finding{Level::fail, "ptrace",
                  fmt::format("refused: {}", facts.stop_cost.error().message()), ""};
  if (facts.own.filter_error != 0) {
    finding.fix = facts.own.in_container
                      ? "docker run --cap-add SYS_PTRACE ..."
                      : "run it outside the sandbox or service that installed the seccomp filter";
  } else if (facts.own.yama_scope.value_or(0) >= 2) {
    finding.fix = "see yama below";
  } else {
    finding.fix = more_rights(facts);
  }
  return finding;
}

Finding judge_stop_cost(const MachineFacts& facts) {
  const supervisor::StopCost& cost = *facts.stop_cost;
  std::string fact =
      fmt::format("{:.1f} us for one stop on the target's CPU", in_microseconds(cost.same_cpu));
  if (cost.other_cpu > core::Duration::zero()) {
    fact += fmt::format(", {:.1f} us from another", in_microseconds(cost.other_cpu));
  }
  return {Level::ok, "stop cost", fact, ""};
}

Finding judge_yama(const MachineFacts& facts) {
  if (!facts.own.yama_scope) {
    return {Level::ok, "yama", "not in this kernel: the owner of a process may attach to it", ""};
  }
  const int scope = *facts.own.yama_scope;
  const std::string setting = fmt::format("kernel.yama.ptrace_scope = {}: ", scope);
  const std::string lower = "sudo sysctl kernel.yama.ptrace_scope=0 (until the next boot)";
  if (scope == 0) {
    return {Level::ok, "yama", setting + "the owner of a process may attach to it", ""};
  }
  if (scope >= 3) {
    return {Level::fail, "yama", setting + "nobody may use ptrace until the next boot",
            "set it to 1 in /etc/sysctl.d and reboot"};
  }
  if (facts.own.may_trace_all) {
    return {Level::ok, "yama", setting + "superprofiler has the required capability", ""};
  }
  if (scope == 1) {
    return {Level::warn, "yama", setting + "launching works, attaching (-p) does not",
            more_rights(facts) + ", or " + lower};
  }
  return {Level::fail, "yama", setting + "only root may use ptrace",
          more_rights(facts) + ", or " + lower};
}

Finding judge_capabilities(const MachineFacts& facts) {
  if (facts.own.may_trace_all) {
    return {Level::ok, "rights",
            "CAP_SYS_PTRACE: every process of this namespace may be attached to", ""};
  }
  return {Level::warn, "rights",
          fmt::format("no CAP_SYS_PTRACE: only processes of uid {} can be attached to",
                      facts.own.our_uid),
          more_rights(facts) + " to profile those of others"};
}

Finding judge_replaced_files(const MachineFacts& facts) {
  if (facts.map_files) {
    return {Level::ok, "deleted files", "/proc/PID/map_files can be opened", ""};
  }
  return {
      Level::warn, "deleted files", "functions in deleted or replaced files will have no names",
      facts.root_may_map_files
          ? "run superprofiler as root (sudo), or restart the target"
          : "restart the target, or docker run --cap-add CHECKPOINT_RESTORE (or SYS_ADMIN) ..."};
}

Finding judge_seccomp(const MachineFacts& facts) {
  if (!facts.seccomp_filter) {
    return {Level::ok, "seccomp", "no filter", ""};
  }
  if (facts.own.filter_error != 0) {
    return {Level::fail, "seccomp",
            fmt::format("a filter refuses ptrace ({})", std::strerror(facts.own.filter_error)),
            "docker run --cap-add SYS_PTRACE ... (or --security-opt seccomp=unconfined)"};
  }
  return {Level::ok, "seccomp", "a filter is active and allows ptrace", ""};
}

Finding judge_memory_reads(const MachineFacts& facts) {
  if (facts.memory_reads) {
    return {Level::ok, "memory", "process_vm_readv works", ""};
  }
  return {Level::fail, "memory", "process_vm_readv is refused: stacks cannot be read",
          facts.own.in_container
              ? "docker run --cap-add SYS_PTRACE ..."
              : "run it outside the sandbox or service that installed the filter"};
}

Finding judge_no_aslr(const MachineFacts& facts) {
  if (facts.no_aslr) {
    return {Level::ok, "--no-aslr", "works", ""};
  }
  return {Level::warn, "--no-aslr", "personality(2) is refused; nothing else needs it",
          "docker run --security-opt seccomp=unconfined ..., if you want --no-aslr"};
}

Finding judge_cpus(const MachineFacts& facts) {
  const std::string fact = fmt::format("{} of {} usable", facts.cpus_allowed, facts.cpus_online);
  if (facts.cpus_allowed < facts.cpus_online) {
    return {Level::warn, "cpus", fact + ": on the others a stop costs ten times as much",
            "let superprofiler use the target's CPUs (taskset, cpuset)"};
  }
  return {Level::ok, "cpus", fact, ""};
}

Finding judge_clock(const MachineFacts& facts) {
  const std::string& source = facts.clock_source;
  if (source == "hpet" || source == "acpi_pm" || source == "jiffies") {
    return {Level::warn, "clock", source + " is slow to read: times are coarser, stops longer",
            "boot with a stable tsc, if the machine has one"};
  }
  return {Level::ok, "clock", source.empty() ? "chosen by the kernel" : source, ""};
}

Finding judge_debug_files(const MachineFacts& facts) {
  if (facts.debug_files) {
    return {Level::ok, "debug files", "some are installed in /usr/lib/debug", ""};
  }
  return {Level::ok, "debug files",
          "none in /usr/lib/debug: stripped programs show only exported names "
          "(install -dbgsym packages, or --debug-dir)",
          ""};
}

Finding judge_debug_servers(const MachineFacts& facts) {
  if (facts.debug_servers.empty()) {
    return {Level::ok, "debuginfod", "not asked for debug files: DEBUGINFOD_URLS is not set", ""};
  }
  if (!facts.debug_server_library) {
    return {Level::warn, "debuginfod",
            "DEBUGINFOD_URLS is set, but libdebuginfod.so.1 is missing: nothing is downloaded",
            "apt install libdebuginfod1"};
  }
  return {Level::ok, "debuginfod",
          "asked at the end of a run for debug files that are not here: " + facts.debug_servers,
          ""};
}

Finding judge_perf(const MachineFacts& facts) {
  return {Level::ok, "perf events",
          facts.perf_paranoid
              ? fmt::format("not needed (kernel.perf_event_paranoid = {})", *facts.perf_paranoid)
              : "not needed (not in this kernel)",
          ""};
}

bool can_open_map_files() {
  for (const core::Mapping& mapping : core::parse_maps(read_proc("/proc/self/maps").value_or(""))) {
    if (mapping.path.starts_with('/')) {
      const std::string link = fmt::format("/proc/self/map_files/{:x}-{:x}",
                                           mapping.range.begin.value(), mapping.range.end.value());
      return core::UniqueFd(::open(link.c_str(), O_RDONLY | O_CLOEXEC)).valid();
    }
  }
  return false;
}

// proc(5), /proc/PID/map_files: needs one of two capabilities.
bool may_open_map_files(std::string_view capabilities) {
  std::uint64_t held = 0;
  std::from_chars(capabilities.data(), capabilities.data() + capabilities.size(), held, 16);
  return (held >> CAP_SYS_ADMIN & 1U) != 0 || (held >> kCheckpointRestore & 1U) != 0;
}

}  // namespace

MachineFacts look_at_machine() {
  utsname names{};
  ::uname(&names);
  MachineFacts facts;
  facts.own = supervisor::read_own_facts();
  facts.kernel = names.release;
  facts.cpu = names.machine;
  facts.stop_cost = supervisor::probe_stop_cost(kStopRounds);
  const std::string status = read_proc("/proc/self/status").value_or("");
  facts.seccomp_filter = supervisor::status_field(status, "Seccomp") == "2";
  facts.memory_reads = supervisor::probe_memory_reads();
  facts.no_aslr = supervisor::probe_no_aslr();
  facts.map_files = can_open_map_files();
  facts.root_may_map_files =
      may_open_map_files(supervisor::status_field(status, "CapBnd").value_or(""));
  if (const std::string text = first_line("/proc/sys/kernel/perf_event_paranoid"); !text.empty()) {
    facts.perf_paranoid = std::atoi(text.c_str());
  }
  facts.cpus_allowed = count_allowed_cpus();
  facts.cpus_online = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  facts.clock_source =
      first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  facts.copies = supervisor::look_at_copies();
  if (symbols::DebugServer::is_wanted()) {
    facts.debug_servers = symbols::DebugServer::urls();
    facts.debug_server_library = symbols::DebugServer::is_usable();
  }
  facts.debug_files = ::access("/usr/lib/debug/.build-id", F_OK) == 0;
  return facts;
}

std::vector<Finding> judge(const MachineFacts& facts) {
  std::vector<Finding> findings = {judge_kernel(facts), judge_ptrace(facts)};
  if (facts.stop_cost) {
    findings.push_back(judge_stop_cost(facts));
  }
  findings.insert(findings.end(),
                  {judge_yama(facts), judge_capabilities(facts), judge_seccomp(facts),
                   judge_memory_reads(facts), judge_replaced_files(facts), judge_no_aslr(facts),
                   judge_cpus(facts), judge_clock(facts), judge_debug_files(facts),
                   judge_debug_servers(facts), judge_perf(facts)});
  std::vector<Finding> of_copies = judge(facts.copies, facts.own.in_container);
  findings.insert(findings.end(), std::make_move_iterator(of_copies.begin()),
                  std::make_move_iterator(of_copies.end()));
  if (facts.own.in_container) {
    findings.push_back(
        {Level::ok, "container", "detected: only its own processes can be profiled from here", ""});
  }
  return findings;
}

}  // namespace sp::doctor
