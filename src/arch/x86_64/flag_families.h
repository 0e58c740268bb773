#pragma once

#include <cstdint>

#include "arch/x86_64/encoding.h"
#include "arch/x86_64/flag_effects.h"
#include "arch/x86_64/flags.h"

// Parts of flag_effects(). Sources: Intel SDM volume 1, appendix A ("EFLAGS Cross-Reference") and
// volume 2 under each instruction.
namespace sp::arch::x86_64::flag_families {

inline constexpr std::uint64_t kAll = kArithmeticFlags;
inline constexpr FlagEffects kUnknown{kAll, 0};
inline constexpr FlagEffects kNone{};
inline constexpr FlagEffects kSetsAll{0, kAll};

/// Of jcc, setcc, cmovcc: the low four bits of the opcode, of which the last negates.
[[nodiscard]] constexpr std::uint64_t read_by_condition(unsigned opcode) {
  constexpr std::uint64_t kRead[] = {
      kOverflow,
      kCarry,
      kZero,
      kCarry | kZero,
      kSign,
      kParity,
      kSign | kOverflow,
      kZero | kSign | kOverflow,
  };
  return kRead[(opcode >> 1U) & 7U];
}

/// The count of a shift of bytes, or of words of any size, by an immediate.
[[nodiscard]] inline unsigned masked_count(const Encoding& encoding, bool of_bytes) {
  const unsigned mask = encoding.wide() && !of_bytes ? 63 : 31;
  return static_cast<unsigned>(encoding.immediate) & mask;
}

[[nodiscard]] FlagEffects of_two_byte(const Encoding& encoding);
[[nodiscard]] FlagEffects of_three_byte_38(const Encoding& encoding);
[[nodiscard]] FlagEffects of_three_byte_3a(unsigned opcode);
[[nodiscard]] FlagEffects of_vector(const Encoding& encoding);

}  // namespace sp::arch::x86_64::flag_families
