#include "live/support_capture.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>

namespace sp::test {
namespace {

long trace(__ptrace_request request, pid_t tid, std::uint64_t data) {
  return ::ptrace(request, tid, nullptr, reinterpret_cast<void*>(data));
}

[[noreturn]] void become(const std::vector<std::string>& argv, bool traced) {
  std::vector<char*> words;
  for (const std::string& word : argv) {
    words.push_back(const_cast<char*>(word.c_str()));  // NOLINT: execvp does not write to them
  }
  words.push_back(nullptr);
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDOUT_FILENO);
  ::dup2(null, STDERR_FILENO);
  if (traced) {
    trace(PTRACE_TRACEME, 0, 0);
  }
  ::execvp(words.front(), words.data());
  ::_exit(127);
}

}  // namespace

CapturedProgram::CapturedProgram(const std::vector<std::string>& argv) {
  const pid_t child = ::fork();
  if (child == 0) {
    become(argv, true);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
    return;
  }
  trace(PTRACE_SETOPTIONS, child, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
  pid_ = child;
  tid_ = child;
}

CapturedProgram::CapturedProgram(const std::vector<std::string>& argv, std::int64_t microseconds) {
  const pid_t child = ::fork();
  if (child == 0) {
    become(argv, false);
  }
  ::usleep(static_cast<useconds_t>(microseconds));
  ::kill(child, SIGSTOP);
  int status = 0;
  if (::waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status)) {
    return;
  }
  pid_ = child;
  tid_ = child;
  trace(PTRACE_SEIZE, child, 0);
  trace(PTRACE_INTERRUPT, child, 0);
  ::waitpid(child, &status, __WALL);
}

void CapturedProgram::release() { trace(PTRACE_DETACH, tid_, 0); }

CapturedProgram::~CapturedProgram() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    pid_t gone = 0;  // the leader is reported after its traced threads
    while (gone != pid_ && gone >= 0) {
      gone = ::waitpid(-1, nullptr, __WALL);
    }
  }
}

bool CapturedProgram::wait_for_stop(int wanted_signal) {
  for (;;) {
    int status = 0;
    const pid_t stopped = ::waitpid(-1, &status, __WALL);
    if (stopped < 0 || (stopped == pid_ && (WIFEXITED(status) || WIFSIGNALED(status)))) {
      pid_ = stopped < 0 ? pid_ : -1;
      return false;
    }
    if (!WIFSTOPPED(status)) {
      continue;
    }
    const int event = status >> 16;
    const int signal = WSTOPSIG(status);
    const bool wanted = signal == wanted_signal && (signal != SIGSTOP || stopped == pid_);
    if (event == 0 && wanted) {
      tid_ = stopped;
      return true;
    }
    const bool born = event != 0 || signal == SIGSTOP;
    trace(PTRACE_CONT, stopped, born ? 0 : static_cast<std::uint64_t>(signal));
  }
}

bool CapturedProgram::run_to_breakpoint() {
  trace(PTRACE_CONT, tid_, 0);
  if (!wait_for_stop(SIGTRAP)) {
    return false;
  }
  auto stopped = registers();
  const auto pc = arch::Native::pc(stopped);
  if (arch::Native::breakpoint_of_trap(pc) == pc) {
    arch::Native::set_pc(stopped, pc + arch::Native::kBreakpoint.size());
    iovec io{&stopped, sizeof(stopped)};
    ::ptrace(PTRACE_SETREGSET, tid_, reinterpret_cast<void*>(NT_PRSTATUS), &io);
  }
  return true;
}

bool CapturedProgram::run_for_microseconds(std::int64_t time) {
  trace(PTRACE_CONT, tid_, 0);
  ::usleep(static_cast<useconds_t>(time));
  ::syscall(SYS_tgkill, pid_, pid_, SIGSTOP);
  return wait_for_stop(SIGSTOP);
}

bool CapturedProgram::step() {
  int signal = 0;
  do {
    trace(PTRACE_SINGLESTEP, tid_, static_cast<std::uint64_t>(signal));
    int status = 0;
    if (::waitpid(tid_, &status, __WALL) != tid_ || !WIFSTOPPED(status)) {
      pid_ = -1;
      return false;
    }
    signal = WSTOPSIG(status);
  } while (signal != SIGTRAP);
  return true;
}

arch::Native::Registers CapturedProgram::registers() const {
  arch::Native::Registers registers{};
  iovec io{&registers, sizeof(registers)};
  ::ptrace(PTRACE_GETREGSET, tid_, reinterpret_cast<void*>(NT_PRSTATUS), &io);
  return registers;
}

core::RawStack CapturedProgram::raw_stack(std::size_t most) const {
  core::RawStack raw;
  raw.registers = arch::Native::to_dwarf(registers());
  const auto all = maps();
  const core::Mapping* stack = core::find_mapping(all, raw.registers.sp);
  if (stack != nullptr) {
    // The red zone may begin below the mapping.
    raw.bottom = std::max(raw.registers.sp - arch::Native::kRedZone, stack->range.begin);
    const std::uint64_t size = std::min<std::uint64_t>(stack->range.end - raw.bottom, most);
    raw.bytes = memory(raw.bottom, size);
  }
  return raw;
}

std::vector<core::Mapping> CapturedProgram::maps() const {
  std::ifstream file(fmt::format("/proc/{}/task/{}/maps", pid_, tid_));
  return core::parse_maps(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::vector<std::byte> CapturedProgram::memory(core::Address from, std::size_t size) const {
  std::vector<std::byte> bytes(size);
  iovec local{bytes.data(), bytes.size()};
  iovec remote{reinterpret_cast<void*>(from.value()), size};
  const ssize_t copied = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
  bytes.resize(copied > 0 ? static_cast<std::size_t>(copied) : 0);
  return bytes;
}

std::uint64_t CapturedProgram::word(core::Address from) const {
  std::uint64_t value = 0;
  const auto bytes = memory(from, sizeof(value));
  if (bytes.size() == sizeof(value)) {
    std::memcpy(&value, bytes.data(), sizeof(value));
  }
  return value;
}

}  // namespace sp::test
