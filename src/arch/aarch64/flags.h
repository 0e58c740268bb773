#pragma once

#include <cstdint>

namespace sp::arch::aarch64 {

// Bits of pstate (Arm ARM, C5.2.18 SPSR_EL1).
inline constexpr std::uint64_t kNegative = 1ULL << 31U;
inline constexpr std::uint64_t kZero = 1ULL << 30U;
inline constexpr std::uint64_t kCarry = 1ULL << 29U;
inline constexpr std::uint64_t kOverflow = 1ULL << 28U;
inline constexpr std::uint64_t kArithmeticFlags = kNegative | kZero | kCarry | kOverflow;

/// The x register's value, or its lower half for instructions on w registers.
[[nodiscard]] std::uint64_t truncate(std::uint64_t value, bool is_wide);

/// True if b.cond with this condition (its low four bits) is taken.
[[nodiscard]] bool condition_holds(unsigned condition, std::uint64_t pstate);

struct Sum {
  std::uint64_t value = 0;
  std::uint64_t flags = 0;  // all of kArithmeticFlags
};
/// AddWithCarry of the manual: a difference is left + ~right + 1.
[[nodiscard]] Sum add(std::uint64_t left, std::uint64_t right, bool carry, bool is_wide);

}  // namespace sp::arch::aarch64
