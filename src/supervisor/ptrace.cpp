#include "supervisor/ptrace.h"

// <sys/ptrace.h> before anything that drags in the kernel's <asm/ptrace.h>.
#include <elf.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "core/check.h"

namespace sp::supervisor::ptrace {
namespace {

pid_t g_thread = 0;

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

}  // namespace

void bind_to_this_thread() { g_thread = static_cast<pid_t>(::syscall(SYS_gettid)); }

core::Result<void> seize(pid_t tid, FollowOptions follow) {
  // TRACEEXIT keeps a process's memory map readable for one last look before it is gone.
  std::uintptr_t options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
  if (follow.forks) {
    options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
  }
  return done_or_errno(request(PTRACE_SEIZE, tid, nullptr, as_pointer(options)), "seizing", tid);
}

core::Result<void> resume(pid_t tid, int signal) {
  return done_or_errno(
      request(PTRACE_CONT, tid, nullptr, as_pointer(static_cast<std::uintptr_t>(signal))),
      "resuming", tid);
}

core::Result<void> listen(pid_t tid) {
  return done_or_errno(request(PTRACE_LISTEN, tid, nullptr, nullptr), "listening", tid);
}

core::Result<void> detach(pid_t tid, int signal) {
  return done_or_errno(
      request(PTRACE_DETACH, tid, nullptr, as_pointer(static_cast<std::uintptr_t>(signal))),
      "detaching", tid);
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

core::Result<siginfo_t> signal_info(pid_t tid) {
  siginfo_t info{};
  if (request(PTRACE_GETSIGINFO, tid, nullptr, &info) == -1) {
    return core::fail_errno(fmt::format("reading the signal of thread {}", tid));
  }
  return info;
}

core::Result<unsigned long> event_message(pid_t tid) {
  unsigned long message = 0;
  if (request(PTRACE_GETEVENTMSG, tid, nullptr, &message) == -1) {
    return core::fail_errno(fmt::format("reading the event of thread {}", tid));
  }
  return message;
}

core::Result<std::optional<Report>> wait_any(bool block) {
  check_thread();
  Report report;
  report.tid = ::waitpid(-1, &report.status, __WALL | (block ? 0 : WNOHANG));
  if (report.tid > 0) {
    return report;
  }
  if (report.tid == 0 || errno == EINTR) {
    return std::nullopt;
  }
  return core::fail_errno("waiting");
}

}  // namespace sp::supervisor::ptrace
