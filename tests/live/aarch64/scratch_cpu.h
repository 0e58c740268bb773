#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arch/aarch64/encoding.h"
#include "arch/aarch64/flags.h"
#include "arch/aarch64/registers.h"
#include "live/scratch.h"

// Random states and instructions for a traced child that runs them.
namespace sp::arch::aarch64 {

using namespace sp::test;  // NOLINT
using Cpu = ScratchCpu<Registers>;

// A bit of PSTATE that the kernel sets and clears at context switches, by the active mitigation.
inline constexpr std::uint64_t kStepAndBranchType = (1ULL << 21U) | (3ULL << 10U);
inline constexpr std::uint64_t kNotCompared = kStepAndBranchType | (1ULL << 12U);

inline Registers random_registers(Random& random, const Registers& initial) {
  Registers registers = initial;
  for (std::uint64_t& x : registers.x) {
    x = random_value(random) & (one_in(random, 4) ? ~0ULL : ~3ULL);
  }
  registers.sp = one_in(random, 16) ? random_value(random) : kMiddle + below(random, 64) * 16;
  registers.pstate &= ~(kArithmeticFlags | kStepAndBranchType);
  registers.pstate |= random() & kArithmeticFlags;
  registers.pc = kCode + below(random, 16) * 4;
  return registers;
}

/// Instructions that differ only in the bits that `mask` does not cover.
struct Family {
  std::string_view name;
  std::uint32_t mask;
  std::uint32_t value;
};

/// A load of a literal reaches the scratch memory.
inline std::uint32_t random_instruction(Random& random, const Family& family) {
  const auto bits = static_cast<std::uint32_t>(random());
  std::uint32_t word = (bits & ~family.mask) | family.value;
  if (matches(word, 0x3B000000U, 0x18000000U)) {
    word = (word & ~0x00FFFFE0U) | static_cast<std::uint32_t>(below(random, 512) << 5U);
  }
  return word;
}

inline std::vector<std::byte> bytes_of(std::uint32_t word) {
  std::vector<std::byte> bytes(sizeof word);
  std::memcpy(bytes.data(), &word, sizeof word);
  return bytes;
}

/// Ignores BTYPE, which emulated branches clear.
inline void expect_same(Registers expected, Registers native, const std::string& what) {
  expected.pstate &= ~kNotCompared;
  native.pstate &= ~kNotCompared;
  if (expected == native) {
    return;
  }
  ADD_FAILURE() << what << std::hex << "\n pc " << expected.pc << " got " << native.pc
                << "\n pstate " << expected.pstate << " got " << native.pstate << "\n sp "
                << expected.sp << " got " << native.sp;
  for (std::size_t number = 0; number < expected.x.size(); ++number) {
    EXPECT_EQ(expected.x[number], native.x[number]) << "register " << number;
  }
}

}  // namespace sp::arch::aarch64
