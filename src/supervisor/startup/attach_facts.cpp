#include "supervisor/startup/attach_facts.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "core/fd.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/startup/ptrace_probe.h"

namespace sp::supervisor {
namespace {

constexpr std::uint64_t kKernelThreadFlag = 0x00200000;  // PF_KTHREAD of linux/sched.h

// The number at the beginning of a text; 0 if there is none.
template <typename Number>
Number leading_number(std::string_view text, int base = 10) {
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

template <typename Number>
Number number_field(std::string_view status, std::string_view name, int base = 10) {
  return leading_number<Number>(status_field(status, name).value_or(""), base);
}

// Field 9 of /proc/PID/stat; the name, field 2, may contain any character.
std::uint64_t task_flags(pid_t pid) {
  const auto text = read_proc(fmt::format("/proc/{}/stat", pid));
  if (!text || text->rfind(')') == std::string::npos) {
    return 0;
  }
  std::string_view rest = std::string_view(*text).substr(text->rfind(')') + 1);
  for (int field = 2; field < 9; ++field) {
    rest.remove_prefix(std::min(rest.size(), rest.find(' ') + 1));
  }
  return leading_number<std::uint64_t>(rest);
}

bool runs_32_bit_program(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/exe", pid);
  const core::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<unsigned char, EI_NIDENT> ident{};
  return fd.valid() && ::read(fd.get(), ident.data(), ident.size()) == EI_NIDENT &&
         ident[EI_MAG0] == ELFMAG0 && ident[EI_CLASS] == ELFCLASS32;
}

bool runs_in_container() {
  if (::access("/.dockerenv", F_OK) == 0 || ::access("/run/.containerenv", F_OK) == 0 ||
      std::getenv("container") != nullptr) {
    return true;
  }
  const auto groups = read_proc("/proc/1/cgroup");
  for (const std::string_view word : {"docker", "kubepods", "lxc", "containerd", "libpod"}) {
    if (groups && groups->find(word) != std::string::npos) {
      return true;
    }
  }
  return false;
}

void read_process(AttachFacts& facts) {
  facts.exists = ::kill(facts.pid, 0) == 0 || errno == EPERM;
  const auto status = read_proc(fmt::format("/proc/{}/status", facts.pid));
  if (!status) {
    facts.hidden = facts.exists;
    return;
  }
  facts.exists = true;
  facts.name = status_field(*status, "Name").value_or("");
  facts.state = status_field(*status, "State").value_or("?").substr(0, 1).front();
  facts.leader = number_field<pid_t>(*status, "Tgid");
  facts.parent = number_field<pid_t>(*status, "PPid");
  facts.parent_name = read_name(facts.parent, facts.parent);
  facts.tracer = number_field<pid_t>(*status, "TracerPid");
  facts.tracer_name = facts.tracer == 0 ? "" : read_name(facts.tracer, facts.tracer);
  facts.uid = number_field<uid_t>(*status, "Uid");
  facts.permitted_capabilities = number_field<std::uint64_t>(*status, "CapPrm", 16);
  facts.has_seccomp_filter = number_field<int>(*status, "Seccomp") == 2;
  facts.threads = number_field<unsigned>(*status, "Threads");
  facts.is_kernel_thread = (task_flags(facts.pid) & kKernelThreadFlag) != 0;
  facts.is_32_bit = runs_32_bit_program(facts.pid);
  facts.is_ours = facts.leader == ::getpid();
  // The files of a process that is not dumpable belong to root, those of others to their effective
  // uid, the second number of the line; proc(5), /proc/PID.
  const std::string_view uids = status_field(*status, "Uid").value_or("");
  const auto effective_uid = leading_number<uid_t>(uids.substr(uids.find('\t') + 1));
  struct stat owner {};
  const std::string path = fmt::format("/proc/{}/status", facts.pid);
  facts.dumpable = ::stat(path.c_str(), &owner) != 0 || owner.st_uid == effective_uid;
}

}  // namespace

AttachFacts read_own_facts() {
  AttachFacts facts;
  facts.our_uid = ::getuid();
  const std::string status = read_proc("/proc/self/status").value_or("");
  facts.our_permitted_capabilities = number_field<std::uint64_t>(status, "CapPrm", 16);
  const auto effective = number_field<std::uint64_t>(status, "CapEff", 16);
  const auto bounding = number_field<std::uint64_t>(status, "CapBnd", 16);
  facts.may_trace_all = (effective >> CAP_SYS_PTRACE & 1U) != 0;
  facts.root_may_trace_all = (bounding >> CAP_SYS_PTRACE & 1U) != 0;
  facts.filter_error = probe_filter();
  if (const auto scope = read_proc("/proc/sys/kernel/yama/ptrace_scope")) {
    facts.yama_scope = leading_number<int>(*scope);
  }
  facts.in_container = runs_in_container();
  return facts;
}

AttachFacts read_attach_facts(pid_t pid, int error) {
  AttachFacts facts = read_own_facts();
  facts.pid = pid;
  facts.error = error;
  read_process(facts);
  return facts;
}

}  // namespace sp::supervisor
