#include "supervisor/startup/refusal.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace sp::supervisor {
namespace {

std::string named(pid_t pid, const std::string& name) {
  return name.empty() ? fmt::format("{}", pid) : fmt::format("{} ({})", pid, name);
}

// How the user can get CAP_SYS_PTRACE.
std::string with_privilege(const AttachFacts& facts) {
  if (!facts.root_may_trace_all) {
    return "start the container with --cap-add SYS_PTRACE and run superprofiler as root in it";
  }
  if (facts.our_uid == 0) {
    return "give superprofiler the capability CAP_SYS_PTRACE";
  }
  return fmt::format("run it as root: sudo superprofiler -p {}", facts.pid);
}

// Nobody could attach to this, with any privileges.
std::optional<Refusal> nothing_to_attach_to(const AttachFacts& facts) {
  const std::string who = named(facts.pid, facts.name);
  if (!facts.exists) {
    return Refusal{fmt::format("there is no process {}", facts.pid),
                   "look it up with: pgrep -a NAME"};
  }
  if (facts.is_ours) {
    return Refusal{who + " is superprofiler itself, which cannot stop itself",
                   "give another process"};
  }
  if (facts.is_kernel_thread) {
    return Refusal{who + " is a kernel thread and has no program to profile",
                   "use perf for the kernel's own code"};
  }
  if (facts.leader != 0 && facts.leader != facts.pid) {
    return Refusal{
        fmt::format("{} is one thread of process {}", who, facts.leader),
        fmt::format("attach to the process: superprofiler -p {}, or to that thread alone: "
                    "--threads main -p {}",
                    facts.leader, facts.pid)};
  }
  if (facts.state == 'Z' || facts.state == 'X') {
    return Refusal{fmt::format("{} has ended and waits for its parent {} to collect it (a zombie)",
                               who, named(facts.parent, facts.parent_name)),
                   "start it anew: superprofiler -- CMD"};
  }
  if (facts.tracer != 0) {
    const std::string tracer = facts.tracer_name.empty() ? "a process" : facts.tracer_name;
    return Refusal{fmt::format("{} is already traced by {} ({}), and the kernel allows one tracer",
                               who, tracer, facts.tracer),
                   fmt::format("let {} detach or end it first", tracer)};
  }
  if (facts.is_32_bit || facts.error == ENOTSUP) {
    return Refusal{who + " runs a 32-bit program, which superprofiler cannot read",
                   "profile a 64-bit build of it"};
  }
  return std::nullopt;
}

// The machine or the container does not let superprofiler attach to anything.
std::optional<Refusal> switched_off(const AttachFacts& facts) {
  if (facts.filter_error != 0) {
    return Refusal{fmt::format("a seccomp filter refuses ptrace to superprofiler ({})",
                               std::strerror(facts.filter_error)),
                   facts.in_container
                       ? "start the container with --cap-add SYS_PTRACE"
                       : "run it outside of the sandbox or service that set the filter"};
  }
  if (facts.yama_scope == 3) {
    return Refusal{
        "ptrace is switched off until the next boot, for launched programs too "
        "(kernel.yama.ptrace_scope = 3)",
        "set it to 1 in /etc/sysctl.d and reboot"};
  }
  return std::nullopt;
}

// CAP_SYS_PTRACE would suffice, and we do not have it.
std::optional<Refusal> needs_privilege(const AttachFacts& facts) {
  if (facts.may_trace_all) {
    return std::nullopt;
  }
  const std::string who = named(facts.pid, facts.name);
  const std::string fix = with_privilege(facts);
  if (facts.hidden) {
    return Refusal{who + " belongs to somebody else (/proc hides it)", fix};
  }
  if (facts.uid != facts.our_uid) {
    return Refusal{fmt::format("{} belongs to uid {} and superprofiler runs as uid {}", who,
                               facts.uid, facts.our_uid),
                   fix};
  }
  if ((facts.permitted_capabilities & ~facts.our_permitted_capabilities) != 0) {
    return Refusal{who + " holds capabilities that superprofiler does not", fix};
  }
  if (!facts.dumpable) {
    return Refusal{who +
                       " is not dumpable (it changed its user, its file is not readable, or it "
                       "asked for that with prctl)",
                   fix};
  }
  if (facts.yama_scope == 2) {
    return Refusal{
        "only root may trace on this machine, launched programs too "
        "(kernel.yama.ptrace_scope = 2)",
        fix};
  }
  if (facts.yama_scope == 1) {
    return Refusal{fmt::format("only its own ancestors may attach to {} "
                               "(kernel.yama.ptrace_scope = 1)",
                               who),
                   fmt::format("launch it with superprofiler -- CMD, or {}, or allow attaching "
                               "until the next boot: sudo sysctl kernel.yama.ptrace_scope=0",
                               fix)};
  }
  return std::nullopt;
}

}  // namespace

Refusal describe_refusal(const AttachFacts& facts) {
  for (const auto reason : {nothing_to_attach_to, switched_off, needs_privilege}) {
    if (auto refusal = reason(facts)) {
      return *std::move(refusal);
    }
  }
  const std::string who = named(facts.pid, facts.name);
  if (facts.error == ESRCH) {
    return {who + " ended just now", "launch it to see all of it: superprofiler -- CMD"};
  }
  if (facts.error == EACCES) {
    return {"a security module (AppArmor, SELinux) refuses to let us attach to " + who,
            "read its reason in the kernel's log: sudo dmesg | grep -i denied"};
  }
  return {fmt::format("the kernel refuses to let us attach to {} ({})", who,
                      std::strerror(facts.error)),
          facts.may_trace_all
              ? "it may live in another user namespace: run superprofiler in that one"
              : with_privilege(facts)};
}

std::string explain_attach_refusal(pid_t pid, int error) {
  const Refusal refusal = describe_refusal(read_attach_facts(pid, error));
  return refusal.fact + "; " + refusal.fix;
}

}  // namespace sp::supervisor
