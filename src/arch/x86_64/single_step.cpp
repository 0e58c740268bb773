#include "arch/x86_64/single_step.h"

#include <array>

namespace sp::arch::x86_64 {
namespace {

constexpr std::uint64_t kTrapFlag = 1U << 8U;

constexpr bool is_prefix(std::byte byte) {
  const auto value = std::to_integer<unsigned>(byte);
  return value == 0x66 || (value & 0xF0U) == 0x40U;  // operand size, REX
}

}  // namespace

bool hide_step(std::span<const std::byte> code, Registers& registers, MemoryAccess& memory) {
  constexpr std::byte kPushf{0x9C};
  constexpr std::byte kPopf{0x9D};
  constexpr std::byte kIret{0xCF};
  std::size_t at = 0;
  while (at < code.size() && is_prefix(code[at])) {
    ++at;
  }
  if (at == code.size()) {
    return false;
  }
  if (code[at] == kPushf) {
    const core::Address second = sp(registers) + 1;
    std::array<std::byte, 1> flags{};
    constexpr std::byte kInSecond{kTrapFlag >> 8U};
    if (memory.read(second, flags) && (flags[0] & kInSecond) != std::byte{0}) {
      flags[0] &= ~kInSecond;
      (void)memory.write(second, flags);
    }
  }
  // A flag that popf or iret sets is the program's own.
  const bool is_left =
      (registers.eflags & kTrapFlag) != 0 && code[at] != kPopf && code[at] != kIret;
  registers.eflags &= is_left ? ~kTrapFlag : ~std::uint64_t{0};
  return is_left;
}

bool steps_itself(const Registers& registers) { return (registers.eflags & kTrapFlag) != 0; }

}  // namespace sp::arch::x86_64
