#pragma once

#include <cstdint>

namespace sp::arch::x86_64 {

// Bits of eflags (Intel SDM volume 1, section 3.4.3).
inline constexpr std::uint64_t kCarry = 1U << 0U;
inline constexpr std::uint64_t kParity = 1U << 2U;
inline constexpr std::uint64_t kAdjust = 1U << 4U;
inline constexpr std::uint64_t kZero = 1U << 6U;
inline constexpr std::uint64_t kSign = 1U << 7U;
inline constexpr std::uint64_t kOverflow = 1U << 11U;
inline constexpr std::uint64_t kArithmeticFlags =
    kCarry | kParity | kAdjust | kZero | kSign | kOverflow;

/// `value` truncated to `width` bytes: 1, 2, 4 or 8.
[[nodiscard]] std::uint64_t truncate(std::uint64_t value, unsigned width);
[[nodiscard]] std::uint64_t sign_extend(std::uint64_t value, unsigned width);

/// True if the condition of a jcc, setcc or cmovcc (the low four bits of its opcode) holds.
[[nodiscard]] bool condition_holds(unsigned condition, std::uint64_t eflags);

struct Sum {
  std::uint64_t value = 0;
  std::uint64_t flags = 0;  // all of kArithmeticFlags
};
/// left + right + carry, and left - right - borrow, in `width` bytes.
[[nodiscard]] Sum add(std::uint64_t left, std::uint64_t right, bool carry, unsigned width);
[[nodiscard]] Sum subtract(std::uint64_t left, std::uint64_t right, bool borrow, unsigned width);
/// The flags of and, or, xor and test for their result. The manuals leave the adjust flag
/// undefined; it is cleared, as all known CPUs do.
[[nodiscard]] Sum logic(std::uint64_t result, unsigned width);

}  // namespace sp::arch::x86_64
