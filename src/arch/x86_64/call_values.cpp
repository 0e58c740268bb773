#include "arch/x86_64/call_values.h"

#include <array>
#include <bit>
#include <cstring>

namespace sp::arch::x86_64 {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

}  // namespace

std::optional<std::uint64_t> argument(const Registers& registers, unsigned number,
                                      MemoryAccess& memory) {
  const std::array<std::uint64_t, 6> in_registers = {registers.rdi, registers.rsi, registers.rdx,
                                                     registers.rcx, registers.r8,  registers.r9};
  if (number < in_registers.size()) {
    return in_registers.at(number);
  }
  // Above the return address.
  const core::Address at = sp(registers) + kWord * (1 + number - in_registers.size());
  std::array<std::byte, kWord> word{};
  if (!memory.read(at, word)) {
    return std::nullopt;
  }
  return std::bit_cast<std::uint64_t>(word);
}

std::uint64_t result(const Registers& registers) { return registers.rax; }

std::optional<double> floating_value(std::span<const std::byte> set, unsigned number) {
  constexpr std::size_t kXmmSpace = 160;  // user_fpregs_struct: the FXSAVE area
  constexpr std::size_t kXmm = 16;
  const std::size_t at = kXmmSpace + kXmm * number;
  if (at + sizeof(double) > set.size()) {
    return std::nullopt;
  }
  double value = 0;
  std::memcpy(&value, set.data() + at, sizeof(value));
  return value;
}

}  // namespace sp::arch::x86_64
