#include "supervisor/linux/ptrace.h"

// <sys/ptrace.h> before anything that drags in the kernel's <asm/ptrace.h>.
#include <elf.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string_view>

#include "core/check.h"
#include "supervisor/linux/wait_status.h"

namespace sp::supervisor::ptrace {
namespace {

pid_t g_thread = 0;
SteppedThreads* g_steps = nullptr;

void check_thread() {
  thread_local const pid_t self = static_cast<pid_t>(::syscall(SYS_gettid));
  SP_CHECK(self == g_thread);
}

/// The raw request; `data` and `address` mean what ptrace(2) says for it.
long request(__ptrace_request what, pid_t tid, void* address, void* data) {
  check_thread();
  errno = 0;
  return ::ptrace(what, tid, address, data);
}

void* as_pointer(std::uintptr_t value) { return reinterpret_cast<void*>(value); }

core::Result<void> done_or_errno(long answer, std::string_view what, pid_t tid) {
  if (answer == -1) {
    return core::fail_errno(fmt::format("{} of thread {}", what, tid));
  }
  return {};
}

/// Resumes a stopped thread. Only PTRACE_SINGLESTEP does not end a single step.
core::Result<void> resume_by(__ptrace_request how, pid_t tid, int signal, std::string_view what) {
  const bool lists = arch::Native::kStepOutlivesTracer && g_steps != nullptr;
  if (lists && how == PTRACE_SINGLESTEP) {
    g_steps->add(tid);
  }
  const long answer = request(how, tid, nullptr, as_pointer(static_cast<std::uintptr_t>(signal)));
  auto done = done_or_errno(answer, what, tid);
  if (lists && (how != PTRACE_SINGLESTEP || !done)) {
    g_steps->remove(tid);
  }
  return done;
}

/// wait(2) that leaves the report to be waited for.
core::Result<std::optional<Report>> peek(idtype_t what, pid_t tid, bool block) {
  check_thread();
  siginfo_t info{};
  // Stops of tracees are reported without WSTOPPED.
  const int flags = WEXITED | WNOWAIT | __WALL | (block ? 0 : WNOHANG);
  if (::waitid(what, static_cast<id_t>(tid), &info, flags) != 0) {
    if (errno == EINTR) {
      return std::nullopt;
    }
    return core::fail_errno("waiting");
  }
  if (info.si_pid == 0) {
    return std::nullopt;
  }
  Report report;
  report.tid = info.si_pid;
  const auto status = static_cast<unsigned>(info.si_status);
  switch (info.si_code) {
    case CLD_EXITED:
      report.status = static_cast<int>((status & 0xFFU) << 8U);
      break;
    case CLD_KILLED:
      report.status = static_cast<int>(status);
      break;
    case CLD_DUMPED:
      report.status = static_cast<int>(status | 0x80U);
      break;
    default:
      report.status = static_cast<int>((status << 8U) | 0x7FU);  // see WIFSTOPPED
      break;
  }
  if (!WIFSTOPPED(report.status) && g_steps != nullptr) {
    g_steps->remove(report.tid);  // the kernel gives tids out again
  }
  return report;
}

/// The same, but an end, which is no stop, and an exec are consumed.
core::Result<std::optional<Report>> watch(idtype_t what, pid_t tid, bool block) {
  // If an exec gave a thread another tid, the kernel refuses every request for it until that event
  // was waited for (looks_like_a_spurious_pid() in kernel/ptrace.c).
  constexpr int kExec = ((PTRACE_EVENT_EXEC << 8) | SIGTRAP) << 8 | 0x7F;
  auto report = peek(what, tid, block);
  if (report && *report && (!WIFSTOPPED((*report)->status) || (*report)->status == kExec)) {
    rusage usage{};
    (void)::wait4((*report)->tid, &(*report)->status, __WALL, &usage);
    (*report)->cpu = cpu_of(usage);
  }
  return report;
}

}  // namespace

void list_steps_in(SteppedThreads* steps) { g_steps = steps; }

void bind_to_this_thread() { g_thread = static_cast<pid_t>(::syscall(SYS_gettid)); }

core::Result<void> seize(pid_t tid, FollowOptions follow) {
  // TRACEEXIT keeps the memory map of an exiting process readable for a last time.
  // TRACESYSGOOD distinguishes syscall-stops from the tracee's own SIGTRAPs.
  std::uintptr_t options =
      PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_TRACESYSGOOD;
  if (follow.forks) {
    options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
  }
  return done_or_errno(request(PTRACE_SEIZE, tid, nullptr, as_pointer(options)), "seizing", tid);
}

core::Result<void> resume(pid_t tid, int signal) {
  return resume_by(PTRACE_CONT, tid, signal, "resuming");
}

core::Result<void> resume_to_syscall(pid_t tid, int signal) {
  return resume_by(PTRACE_SYSCALL, tid, signal, "resuming");
}

core::Result<void> step(pid_t tid, int signal) {
  return resume_by(PTRACE_SINGLESTEP, tid, signal, "stepping");
}

core::Result<void> listen(pid_t tid) {
  return done_or_errno(request(PTRACE_LISTEN, tid, nullptr, nullptr), "listening", tid);
}

core::Result<void> detach(pid_t tid, int signal) {
  return resume_by(PTRACE_DETACH, tid, signal, "detaching");
}

core::Result<void> interrupt(pid_t tid) {
  return done_or_errno(request(PTRACE_INTERRUPT, tid, nullptr, nullptr), "interrupting", tid);
}

core::Result<Registers> registers(pid_t tid) {
  Registers registers{};
  iovec piece{&registers, sizeof registers};
  if (request(PTRACE_GETREGSET, tid, as_pointer(NT_PRSTATUS), &piece) == -1) {
    return core::fail_errno(fmt::format("reading the registers of thread {}", tid));
  }
  if (piece.iov_len != sizeof registers) {
    return core::fail(fmt::format("thread {} runs 32-bit code", tid), ENOTSUP);
  }
  return registers;
}

core::Result<void> set_registers(pid_t tid, const Registers& registers) {
  Registers copy = registers;
  iovec piece{&copy, sizeof copy};
  return done_or_errno(request(PTRACE_SETREGSET, tid, as_pointer(NT_PRSTATUS), &piece),
                       "writing the registers", tid);
}

core::Result<std::vector<std::byte>> register_set(pid_t tid, int set) {
  constexpr std::size_t kMost = 16384;
  std::vector<std::byte> content(kMost);
  iovec piece{content.data(), content.size()};
  if (request(PTRACE_GETREGSET, tid, as_pointer(static_cast<std::uintptr_t>(set)), &piece) == -1) {
    return core::fail_errno(fmt::format("reading register set {:#x} of thread {}", set, tid));
  }
  content.resize(piece.iov_len);
  return content;
}

core::Result<void> write_register_set(pid_t tid, int set, std::span<const std::byte> content) {
  std::vector<std::byte> copy(content.begin(), content.end());
  iovec piece{copy.data(), copy.size()};
  return done_or_errno(
      request(PTRACE_SETREGSET, tid, as_pointer(static_cast<std::uintptr_t>(set)), &piece),
      "writing a register set", tid);
}

core::Result<siginfo_t> signal_info(pid_t tid) {
  siginfo_t info{};
  if (request(PTRACE_GETSIGINFO, tid, nullptr, &info) == -1) {
    return core::fail_errno(fmt::format("reading the signal of thread {}", tid));
  }
  return info;
}

core::Result<void> set_signal_info(pid_t tid, const siginfo_t& info) {
  siginfo_t copy = info;
  return done_or_errno(request(PTRACE_SETSIGINFO, tid, nullptr, &copy), "writing the signal", tid);
}

core::Result<std::uint64_t> signal_mask(pid_t tid) {
  std::uint64_t mask = 0;
  if (request(PTRACE_GETSIGMASK, tid, as_pointer(sizeof mask), &mask) == -1) {
    return core::fail_errno(fmt::format("reading the signal mask of thread {}", tid));
  }
  return mask;
}

core::Result<void> set_signal_mask(pid_t tid, std::uint64_t mask) {
  return done_or_errno(request(PTRACE_SETSIGMASK, tid, as_pointer(sizeof mask), &mask),
                       "writing the signal mask", tid);
}

core::Result<SyscallStop> syscall_stop(pid_t tid) {
  __ptrace_syscall_info info{};
  if (request(PTRACE_GET_SYSCALL_INFO, tid, as_pointer(sizeof info), &info) == -1) {
    return core::fail_errno(fmt::format("reading the system call of thread {}", tid));
  }
  SyscallStop stop;
  if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
    stop.side = SyscallStop::Side::entry;
    stop.number = info.entry.nr;
    std::copy(std::begin(info.entry.args), std::end(info.entry.args), stop.arguments.begin());
  } else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
    stop.side = SyscallStop::Side::exit;
    stop.result = info.exit.rval;
  }
  return stop;
}

core::Result<void> skip_syscall(pid_t tid, const Registers& registers, std::int64_t result) {
  using Native = arch::NativeTrapHandler;
  Registers skipped = registers;
  Native::skip_call(skipped, result);
  if (auto set = set_registers(tid, skipped); !set || Native::kCallRegisters == 0) {
    return set;
  }
  const int none = -1;
  return write_register_set(tid, Native::kCallRegisters, std::as_bytes(std::span(&none, 1)));
}

bool dispatches_syscalls(pid_t tid) {
  constexpr auto kGetConfig = static_cast<__ptrace_request>(0x4210);
  struct {
    std::uint64_t mode, selector, offset, length;
  } config{};  // PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, linux/ptrace.h
  return request(kGetConfig, tid, as_pointer(sizeof config), &config) == 0 && config.mode != 0;
}

core::Result<unsigned long> event_message(pid_t tid) {
  unsigned long message = 0;
  if (request(PTRACE_GETEVENTMSG, tid, nullptr, &message) == -1) {
    return core::fail_errno(fmt::format("reading the event of thread {}", tid));
  }
  return message;
}

core::Result<std::optional<Report>> take(pid_t tid, bool block) {
  check_thread();
  Report report;
  rusage usage{};
  report.tid = ::wait4(tid, &report.status, __WALL | (block ? 0 : WNOHANG), &usage);
  if (report.tid > 0) {
    report.cpu = cpu_of(usage);
    return report;
  }
  if (report.tid == 0 || errno == EINTR) {
    return std::nullopt;
  }
  return core::fail_errno("waiting");
}

core::Result<std::optional<Report>> watch_any(bool block) { return watch(P_ALL, 0, block); }

core::Result<std::optional<Report>> watch(pid_t tid) { return watch(P_PID, tid, false); }

core::Result<std::optional<Report>> look(pid_t tid) { return peek(P_PID, tid, false); }

core::Result<Report> wait_for(pid_t tid) {
  for (;;) {
    const auto report = peek(P_PID, tid, true);
    if (!report) {
      return tl::unexpected(report.error());
    }
    if (*report) {
      return **report;
    }
  }
}

bool will_report(pid_t tid) { return look(tid).has_value(); }

}  // namespace sp::supervisor::ptrace
