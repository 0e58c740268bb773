#include "analyzer/syscall_flow.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "arch/native.h"

namespace sp::analyzer {

BehindCall behind_call(std::span<const std::byte> code, std::uint64_t at,
                       const core::Instruction& instruction) {
  constexpr std::string_view kEndsHandler = "rt_sigreturn";
  constexpr auto kNames = std::to_array<std::string_view>(
      {"clone", "clone3", "fork", "vfork", "execve", "execveat", kEndsHandler});
  if (instruction.flow != core::Flow::syscall) {
    return BehindCall::once;
  }
  constexpr std::uint64_t kBefore = 64;  // find_syscall_sites() looks so far back, and less
  const std::uint64_t begin = at - std::min(at, kBefore);
  const auto sites = arch::Native::find_syscall_sites(
      code.subspan(begin, at + instruction.length - begin), kNames);
  if (sites.empty() || sites.back().call_at != at - begin) {
    return BehindCall::once;
  }
  return arch::Native::syscall_name(sites.back().number) == kEndsHandler
             ? BehindCall::never
             : BehindCall::in_two_or_none;
}

}  // namespace sp::analyzer
