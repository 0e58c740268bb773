#include "analyzer/syscall_flow.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "arch/native.h"

namespace sp::analyzer {
namespace {

bool is_call(std::span<const std::byte> code, std::uint64_t at,
             const core::Instruction& instruction, std::span<const std::string_view> names) {
  if (instruction.flow != core::Flow::syscall) {
    return false;
  }
  constexpr std::uint64_t kBefore = 64;  // find_syscall_sites() looks so far back, and less
  const std::uint64_t begin = at - std::min(at, kBefore);
  const auto sites =
      arch::Native::find_syscall_sites(code.subspan(begin, at + instruction.length - begin), names);
  return !sites.empty() && sites.back().call_at == at - begin;
}

}  // namespace

bool makes_task_or_program(std::span<const std::byte> code, std::uint64_t at,
                           const core::Instruction& instruction) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"clone", "clone3", "fork", "vfork", "execve", "execveat"});
  return is_call(code, at, instruction, kNames);
}

bool ends_handler(std::span<const std::byte> code, std::uint64_t at,
                  const core::Instruction& instruction) {
  constexpr auto kNames = std::to_array<std::string_view>({"rt_sigreturn"});
  return is_call(code, at, instruction, kNames);
}

}  // namespace sp::analyzer
