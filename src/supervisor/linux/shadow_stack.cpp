#include "supervisor/linux/shadow_stack.h"

#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <string>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

/// <elf.h> may not have it; no register set of x86-64 has this number.
constexpr int kGuardedControlStack = 0x410;  // NT_ARM_GCS

bool has_guarded_control_stack(pid_t tid) {
  std::array<std::uint64_t, 3> set{};  // enabled, locked, stack pointer
  iovec io{set.data(), sizeof set};
  return ::ptrace(PTRACE_GETREGSET, tid, kGuardedControlStack, &io) == 0 && (set[0] & 1U) != 0;
}

}  // namespace

bool status_shows_shadow_stack(std::string_view status) {
  const auto features = status_field(status, "x86_Thread_features");
  return features && features->find("shstk") != std::string_view::npos;
}

bool environment_speaks_of_shadow_stack(std::string_view environment) {
  constexpr std::string_view kName = "GLIBC_TUNABLES=";
  while (!environment.empty()) {
    const auto end = environment.find('\0');
    const std::string_view variable = environment.substr(0, end);
    if (variable.starts_with(kName)) {
      for (const std::string_view word : {"SHSTK", "x86_shstk", "aarch64_gcs"}) {
        if (variable.find(word) != std::string_view::npos) {
          return true;
        }
      }
    }
    environment.remove_prefix(end == std::string_view::npos ? environment.size() : end + 1);
  }
  return false;
}

bool has_shadow_stack(pid_t tid) {
  const auto status = read_proc(fmt::format("/proc/{}/status", tid));
  const auto environment = read_proc(fmt::format("/proc/{}/environ", tid));
  return (status && status_shows_shadow_stack(*status)) || has_guarded_control_stack(tid) ||
         (environment && environment_speaks_of_shadow_stack(*environment));
}

}  // namespace sp::supervisor
