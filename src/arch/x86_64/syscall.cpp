#include "arch/x86_64/syscall.h"

#include <cerrno>
#include <cstddef>

#include "arch/kernel_restart.h"
#include "arch/recent_syscalls.h"
#include "arch/restartable.h"
#include "arch/x86_64/syscall_names.h"

namespace sp::arch::x86_64 {
namespace {

std::int64_t result_of(const Registers& registers) {
  return static_cast<std::int64_t>(registers.rax);
}

}  // namespace

std::string_view syscall_name(int number) {
  if (number >= 0 && static_cast<std::size_t>(number) < kSyscallNames.size()) {
    return kSyscallNames[static_cast<std::size_t>(number)];
  }
  const std::int64_t recent = std::int64_t{number} - kFirstRecentSyscall;
  if (recent >= 0 && static_cast<std::size_t>(recent) < kRecentSyscalls.size()) {
    return kRecentSyscalls[static_cast<std::size_t>(recent)];
  }
  return "";
}

std::optional<int> leaving_syscall(const Registers& registers) {
  // The kernel uses the low half only (syscall_get_nr).
  const auto number = static_cast<std::int32_t>(registers.orig_rax);
  if (number < 0) {
    return std::nullopt;
  }
  return number;
}

bool returns_eintr(const Registers& registers) {
  return leaving_syscall(registers) && result_of(registers) == -EINTR;
}

bool will_restart(const Registers& registers) {
  return leaving_syscall(registers) && is_kernel_restart(result_of(registers));
}

void restart_call(Registers& registers, std::uint64_t /*first_argument*/) {
  // Not by moving rip: the kernel checks rax after the stop. With this value it restarts the call
  // if no handler runs, and returns EINTR if another pending signal runs one, as it would have done
  // without a tracer.
  registers.rax = static_cast<std::uint64_t>(kRestartUnlessHandled);
}

bool is_restartable(int number) { return is_restartable_call(syscall_name(number)); }

}  // namespace sp::arch::x86_64
