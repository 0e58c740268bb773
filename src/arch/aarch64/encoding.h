#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sp::arch::aarch64 {

/// The first instruction word of `bytes`; nothing if there are less than 4.
[[nodiscard]] std::optional<std::uint32_t> read_word(std::span<const std::byte> bytes);

[[nodiscard]] constexpr bool matches(std::uint32_t word, std::uint32_t mask, std::uint32_t value) {
  return (word & mask) == value;
}

inline constexpr std::size_t kWord = 4;
inline constexpr unsigned kLinkRegister = 30;
inline constexpr std::uint32_t kZeroRegister = 31;  // xzr, where the instruction does not mean sp

/// `bits` bits of the word from bit `low` up.
[[nodiscard]] constexpr std::uint32_t field(std::uint32_t word, unsigned low, unsigned bits) {
  return (word >> low) & ((1U << bits) - 1U);
}

/// The same as a signed number.
[[nodiscard]] constexpr std::uint64_t signed_field(std::uint32_t word, unsigned low,
                                                   unsigned bits) {
  const std::uint64_t sign = 1ULL << (bits - 1U);
  return (field(word, low, bits) ^ sign) - sign;
}

// A direct branch's offset from itself (Arm ARM, C4.1.65).
[[nodiscard]] constexpr std::uint64_t offset_26(std::uint32_t word) {  // b, bl
  return signed_field(word, 0, 26) * 4U;
}
[[nodiscard]] constexpr std::uint64_t offset_19(std::uint32_t word) {  // b.cond, cbz, ldr literal
  return signed_field(word, 5, 19) * 4U;
}
[[nodiscard]] constexpr std::uint64_t offset_14(std::uint32_t word) {  // tbz, tbnz
  return signed_field(word, 5, 14) * 4U;
}

[[nodiscard]] constexpr bool is_b(std::uint32_t word) {
  return matches(word, 0xFC000000U, 0x14000000U);
}
[[nodiscard]] constexpr bool is_bl(std::uint32_t word) {
  return matches(word, 0xFC000000U, 0x94000000U);
}
[[nodiscard]] constexpr bool is_b_cond(std::uint32_t word) {  // and bc.cond
  return matches(word, 0xFF000000U, 0x54000000U);
}
[[nodiscard]] constexpr bool is_cbz(std::uint32_t word) {  // and cbnz
  return matches(word, 0x7E000000U, 0x34000000U);
}
[[nodiscard]] constexpr bool is_tbz(std::uint32_t word) {  // and tbnz
  return matches(word, 0x7E000000U, 0x36000000U);
}
[[nodiscard]] constexpr bool is_register_branch(std::uint32_t word) {
  return matches(word, 0xFE000000U, 0xD6000000U);
}
[[nodiscard]] constexpr bool is_exception(std::uint32_t word) {  // svc, brk, hlt and others
  return matches(word, 0xFF000000U, 0xD4000000U);
}
[[nodiscard]] constexpr bool is_udf(std::uint32_t word) { return word < 0x10000U; }
[[nodiscard]] constexpr bool is_adr(std::uint32_t word) {  // and adrp
  return matches(word, 0x1F000000U, 0x10000000U);
}

/// The result of an adr or adrp at `pc`.
[[nodiscard]] constexpr std::uint64_t adr_value(std::uint32_t word, std::uint64_t pc) {
  const std::uint64_t offset = (signed_field(word, 5, 19) << 2U) | field(word, 29, 2);
  const bool is_page = (word >> 31U) != 0;
  return is_page ? (pc & ~0xFFFULL) + (offset << 12U) : pc + offset;
}

/// What a register branch does, bits 24:21 without the bit that adds a second register to the
/// authenticating ones.
enum class RegisterBranch : std::uint8_t { br, blr, ret, other };
[[nodiscard]] constexpr RegisterBranch register_branch(std::uint32_t word) {
  switch (field(word, 21, 4)) {
    case 0x0:
    case 0x8:
      return RegisterBranch::br;
    case 0x1:
    case 0x9:
      return RegisterBranch::blr;
    case 0x2:
      return RegisterBranch::ret;
    default:
      return RegisterBranch::other;  // eret and drps, which user code cannot run
  }
}

/// True for braa, blraa, retaa and related ones: the target is signed.
[[nodiscard]] constexpr bool authenticates(std::uint32_t word) {
  return matches(word, 0x00000800U, 0x00000800U);
}

}  // namespace sp::arch::aarch64
