#include "arch/aarch64/syscall.h"

#include <cerrno>
#include <cstddef>

#include "arch/aarch64/syscall_names.h"
#include "arch/recent_syscalls.h"
#include "arch/restartable.h"

namespace sp::arch::aarch64 {
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
  // An unknown number is not a call's: x8 is an ordinary register in user code.
  const auto number = static_cast<std::int32_t>(registers.x[8]);
  if (static_cast<std::int64_t>(registers.x[0]) != -EINTR || syscall_name(number).empty()) {
    return std::nullopt;
  }
  return number;
}

bool returns_eintr(const Registers& registers) { return leaving_syscall(registers).has_value(); }

bool will_restart(const Registers& /*registers*/) { return false; }

void restart_call(Registers& registers, std::uint64_t first_argument) {
  registers.pc -= 4;
  registers.x[0] = first_argument;
}

bool is_restartable(int number) { return is_restartable_call(syscall_name(number)); }

}  // namespace sp::arch::aarch64
