#include "supervisor/startup/copy_probe.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include "arch/native.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/page.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/startup/probe_process.h"

namespace sp::supervisor {
namespace {

constexpr std::chrono::seconds kPatience{1};
constexpr unsigned kExecutable = 0x10;   // MFD_EXEC, Linux 6.3
constexpr unsigned kSealedNoExec = 0x8;  // MFD_NOEXEC_SEAL, Linux 6.3

template <typename Registers>
concept HasGsBase = requires(Registers registers) {
  registers.gs_base;
};

// What of a failed call: errno is 0 where the child died.
int error_now() { return errno == 0 ? ECHILD : errno; }

int error_of(const core::Result<bool>& tried) { return tried ? 0 : tried.error().code; }

class Page {
 public:
  Page(int protection, int flags, int fd = -1)
      : at_(::mmap(nullptr, core::kPageSize, protection, flags, fd, 0)),
        error_(failed() ? errno : 0) {}
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  ~Page() {
    if (!failed()) {
      ::munmap(at_, core::kPageSize);
    }
  }
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] void* at() const { return at_; }

 private:
  [[nodiscard]] bool failed() const { return at_ == MAP_FAILED; }  // NOLINT
  void* at_;
  int error_;
};

int spin() {
  for (volatile unsigned turns = 0;;) {
    turns = turns + 1;
  }
}

bool stop(Child& child) {
  if (::ptrace(PTRACE_INTERRUPT, child.pid(), nullptr, nullptr) != 0) {
    return false;
  }
  const auto status = child.wait();
  return status && WIFSTOPPED(*status);
}

template <typename Registers>
bool read_registers(Child& child, Registers& registers) {
  iovec bytes{&registers, sizeof registers};
  return ::ptrace(PTRACE_GETREGSET, child.pid(), NT_PRSTATUS, &bytes) == 0;
}

// True once somebody else has added to it.
bool moves(const std::atomic<unsigned>& turns) {
  const unsigned before = turns;
  const core::TimePoint until = core::Clock::now() + kPatience;
  while (turns == before && core::Clock::now() < until) {
    ::sched_yield();
  }
  return turns != before;
}

// Sets it in a stopped child, lets that run and looks again.
template <typename Registers>
Answer<bool> try_gs_base() {
  if constexpr (HasGsBase<Registers>) {
    const Page shared(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
    if (shared.error() != 0) {
      return {shared.error()};
    }
    auto& turns = *new (shared.at()) std::atomic<unsigned>(0);
    Child child([&turns] {
      for (;;) {
        ++turns;
      }
      return 0;
    });
    Registers registers;
    if (child.pid() < 0 || ::ptrace(PTRACE_SEIZE, child.pid(), nullptr, nullptr) != 0 ||
        !stop(child) || !read_registers(child, registers)) {
      return {error_now()};
    }
    const std::uint64_t wanted =
        (registers.rsp & ~(core::kPageSize - 1)) - (std::uint64_t{1} << 30U);
    registers.gs_base = wanted;
    iovec bytes{&registers, sizeof registers};
    if (::ptrace(PTRACE_SETREGSET, child.pid(), NT_PRSTATUS, &bytes) != 0 ||
        ::ptrace(PTRACE_CONT, child.pid(), nullptr, nullptr) != 0 || !moves(turns) ||
        !stop(child) || !read_registers(child, registers)) {
      return {error_now()};
    }
    return {registers.gs_base == wanted ? 0 : EINVAL, true};
  } else {
    return {ENOTSUP};
  }
}

core::UniqueFd make_memory(unsigned flags) {
  core::UniqueFd fd(static_cast<int>(::syscall(SYS_memfd_create, "sp", flags | MFD_CLOEXEC)));
  if (fd.valid() && ::ftruncate(fd.get(), core::kPageSize) != 0) {
    fd.reset();
  }
  return fd;
}

Answer<bool> try_counter_memory() {
  core::UniqueFd fd = make_memory(0);
  if (!fd.valid() && errno == EACCES) {
    fd = make_memory(kSealedNoExec);  // some kernels with vm.memfd_noexec = 2 want it said
  }
  return {fd.valid() ? Page(PROT_READ | PROT_WRITE, MAP_SHARED, fd.get()).error() : error_now()};
}

Answer<bool> try_executable_memory() {
  return {Page(PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS).error()};
}

Answer<bool> try_executable_file() {
  core::UniqueFd fd = make_memory(kExecutable);
  if (!fd.valid() && errno == EINVAL) {
    fd = make_memory(0);  // before 6.3 every memfd is executable
  }
  return {fd.valid() ? Page(PROT_READ | PROT_EXEC, MAP_SHARED, fd.get()).error() : error_now()};
}

int try_membarrier() {
  const long commands = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0);
  if (commands < 0) {
    return errno;
  }
  // Kernels with nohz_full CPUs leave the command out of their answer.
  return (commands & MEMBARRIER_CMD_GLOBAL) != 0 ? 0 : EINVAL;
}

// Writes to a page that the child maps read-only.
Answer<bool> try_writes(bool traced) {
  const Page page(PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS);
  if (page.error() != 0) {
    return {page.error()};
  }
  Child child(spin);
  if (child.pid() < 0 ||
      (traced && (::ptrace(PTRACE_SEIZE, child.pid(), nullptr, nullptr) != 0 || !stop(child)))) {
    return {error_now()};
  }
  const core::UniqueFd memory(
      ::open(("/proc/" + std::to_string(child.pid()) + "/mem").c_str(), O_RDWR | O_CLOEXEC));
  const char byte = 1;
  const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(page.at()));
  if (!memory.valid() || ::pwrite(memory.get(), &byte, 1, at) != 1) {
    return {error_now()};
  }
  return {};
}

std::optional<int> read_noexec() {
  const auto text = read_proc("/proc/sys/vm/memfd_noexec");
  int value = 0;
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), value).ptr == text->data()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

CopyFacts look_at_copies() {
  using Registers = arch::Native::Registers;
  CopyFacts facts;
  facts.by_segment = HasGsBase<Registers>;
  facts.gs_base = error_of(in_own_process("setting gs", try_gs_base<Registers>));
  facts.counter_memory = error_of(in_own_process("making shared memory", try_counter_memory));
  facts.executable_memory =
      error_of(in_own_process("making executable memory", try_executable_memory));
  facts.executable_file =
      error_of(in_own_process("making an executable file", try_executable_file));
  facts.memfd_noexec = read_noexec();
  facts.membarrier = try_membarrier();
  facts.traced_writes = error_of(in_own_process("writing", [] { return try_writes(true); }));
  facts.untraced_writes = error_of(in_own_process("writing", [] { return try_writes(false); }));
  return facts;
}

}  // namespace sp::supervisor
