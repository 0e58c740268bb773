#include "arch/aarch64/call_values.h"

#include <array>
#include <bit>
#include <cstring>

namespace sp::arch::aarch64 {

std::optional<std::uint64_t> argument(const Registers& registers, unsigned number,
                                      MemoryAccess& memory) {
  constexpr unsigned kInRegisters = 8;
  if (number < kInRegisters) {
    return registers.x.at(number);
  }
  std::array<std::byte, sizeof(std::uint64_t)> word{};
  if (!memory.read(sp(registers) + word.size() * (number - kInRegisters), word)) {
    return std::nullopt;
  }
  return std::bit_cast<std::uint64_t>(word);
}

std::uint64_t result(const Registers& registers) { return registers.x[0]; }

std::optional<double> floating_value(std::span<const std::byte> set, unsigned number) {
  constexpr std::size_t kVector = 16;  // user_fpsimd_state begins with v0
  const std::size_t at = kVector * number;
  if (at + sizeof(double) > set.size()) {
    return std::nullopt;
  }
  double value = 0;
  std::memcpy(&value, set.data() + at, sizeof(value));
  return value;
}

}  // namespace sp::arch::aarch64
