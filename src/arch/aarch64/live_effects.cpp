// What instructions read and overwrite of x0 to x30 (Arm ARM, C4.1: the groups of encodings). A
// field that may name another kind of register counts as read: only what is overwritten has to be
// certain.
#include <optional>

#include "arch/aarch64/counting.h"
#include "arch/aarch64/encoding.h"

namespace sp::arch::aarch64 {
namespace {

using Effects = std::optional<LiveEffects>;

/// Number 31 is the stack pointer or the zero register.
constexpr std::uint32_t bit(std::uint32_t reg) { return reg < kGeneralRegisters ? 1U << reg : 0; }

constexpr std::uint32_t rd(std::uint32_t word) { return bit(field(word, 0, 5)); }
constexpr std::uint32_t rn(std::uint32_t word) { return bit(field(word, 5, 5)); }
constexpr std::uint32_t ra(std::uint32_t word) { return bit(field(word, 10, 5)); }
constexpr std::uint32_t rm(std::uint32_t word) { return bit(field(word, 16, 5)); }

constexpr LiveEffects effects(std::uint32_t reads, std::uint32_t overwrites) {
  return {0, 0, reads, overwrites, true};
}

/// C4.1.92, "data processing -- immediate".
Effects of_immediate(std::uint32_t word) {
  if (is_adr(word)) {
    return effects(0, rd(word));
  }
  if (matches(word, 0x1F800000U, 0x12800000U)) {  // movn, movz, movk
    return effects(field(word, 29, 2) == 3 ? rd(word) : 0, rd(word));
  }
  if (matches(word, 0x1F800000U, 0x13000000U)) {  // sbfm, bfm, ubfm
    return effects(rn(word) | (field(word, 29, 2) == 1 ? rd(word) : 0), rd(word));
  }
  if (matches(word, 0x7FA00000U, 0x13800000U)) {  // extr
    return effects(rn(word) | rm(word), rd(word));
  }
  const bool is_sum = matches(word, 0x1F000000U, 0x11000000U);  // tags, minima and maxima too
  const bool is_logic = matches(word, 0x1F800000U, 0x12000000U);
  return is_sum || is_logic ? Effects(effects(rn(word), rd(word))) : std::nullopt;
}

/// C4.1.95, "data processing -- register".
Effects of_registers(std::uint32_t word) {
  const bool is_logic_or_sum = matches(word, 0x1E000000U, 0x0A000000U);
  const bool is_sum_with_carry = matches(word, 0x1FE0FC00U, 0x1A000000U);
  const bool is_select = matches(word, 0x3FE00800U, 0x1A800000U);
  const bool has_two_sources = matches(word, 0x5FE00000U, 0x1AC00000U);
  if (is_logic_or_sum || is_sum_with_carry || is_select || has_two_sources) {
    return effects(rn(word) | rm(word), rd(word));
  }
  if (matches(word, 0x7FE00000U, 0x5AC00000U)) {  // of one source; signatures are put into it
    return effects(rd(word) | rn(word), rd(word));
  }
  if (matches(word, 0x1F000000U, 0x1B000000U)) {  // madd and its like
    return effects(rn(word) | rm(word) | ra(word), rd(word));
  }
  const bool compares = matches(word, 0x1FE00010U, 0x1A400000U);  // ccmp, ccmn
  return compares ? Effects(effects(rn(word) | rm(word), 0)) : std::nullopt;
}

/// Of loads and stores whose bits 23:22 say what they do. `reads`: addresses.
Effects of_access(std::uint32_t word, std::uint32_t reads) {
  if (field(word, 26, 1) == 1) {
    return effects(reads, 0);
  }
  const std::uint32_t size = field(word, 30, 2);
  switch (field(word, 22, 2)) {
    case 0:
      return effects(reads | rd(word), 0);
    case 1:
      return effects(reads, rd(word));
    case 2:
      return effects(reads, size == 3 ? 0 : rd(word));  // 3: prfm
    default:
      return size <= 1 ? Effects(effects(reads, rd(word))) : std::nullopt;
  }
}

/// Those with bit 21: atomic operations, register offsets, ldraa.
Effects of_other_access(std::uint32_t word) {
  const bool is_general = field(word, 26, 1) == 0;
  switch (field(word, 10, 2)) {
    case 0: {  // ldadd and others, swp, ldapr; not ld64b, which loads eight registers
      const std::uint32_t operation = field(word, 12, 4);
      const bool is_ldapr = matches(word, 0x3FE0FC00U, 0x38A0C000U);
      return is_general && (operation <= 8 || is_ldapr)
                 ? Effects(effects(rm(word) | rn(word), rd(word)))
                 : std::nullopt;
    }
    case 2:
      return of_access(word, rn(word) | rm(word));
    default:
      return is_general && field(word, 30, 2) == 3 ? Effects(effects(rn(word), rd(word)))
                                                   : std::nullopt;
  }
}

/// C4.1.94, "loads and stores".
Effects of_memory(std::uint32_t word) {
  const bool is_general = field(word, 26, 1) == 0;
  if (matches(word, 0x3A000000U, 0x28000000U)) {  // pairs
    if (field(word, 30, 2) == 3) {
      return std::nullopt;
    }
    const bool is_load = field(word, 22, 1) == 1;
    const std::uint32_t pair = is_general ? rd(word) | ra(word) : 0;
    return effects(rn(word) | (is_load ? 0 : pair), is_load ? pair : 0);
  }
  if (matches(word, 0x3B000000U, 0x18000000U)) {  // literals
    return effects(0, is_general && field(word, 30, 2) != 3 ? rd(word) : 0);
  }
  if (matches(word, 0x3B000000U, 0x39000000U)) {
    return of_access(word, rn(word));
  }
  if (matches(word, 0x3B000000U, 0x38000000U)) {
    return field(word, 21, 1) == 0 ? of_access(word, rn(word)) : of_other_access(word);
  }
  if (matches(word, 0x3F200C00U, 0x19000000U)) {  // ldapur, stlur
    return of_access(word, rn(word));
  }
  if (matches(word, 0x3F000000U, 0x08000000U)) {  // exclusive and ordered ones, cas
    const std::uint32_t second =
        bit((field(word, 0, 5) + 1) % 32) | bit((field(word, 16, 5) + 1) % 32);
    return effects(rd(word) | rn(word) | ra(word) | rm(word) | second, 0);
  }
  const bool is_structure = matches(word, 0xBE000000U, 0x0C000000U);
  return is_structure ? Effects(effects(rn(word) | rm(word), 0)) : std::nullopt;
}

/// C4.1.93, "branches, exception generating and system instructions".
Effects of_system(std::uint32_t word) {
  if (is_b(word) || is_bl(word) || is_b_cond(word)) {
    return effects(0, 0);
  }
  if (is_cbz(word) || is_tbz(word)) {
    return effects(rd(word), 0);
  }
  if (is_register_branch(word)) {
    return effects(rd(word) | rn(word) | bit(kLinkRegister), 0);
  }
  if (matches(word, 0xFFFFF01FU, 0xD503201FU)) {  // hints
    constexpr std::uint32_t kSigned = bit(15) | bit(16) | bit(17) | bit(kLinkRegister);
    const bool is_nop = word == 0xD503201FU || matches(word, 0xFFFFFF3FU, 0xD503241FU);  // bti
    return effects(is_nop ? 0 : kSigned, 0);
  }
  if (matches(word, 0xFFFFF01FU, 0xD503301FU)) {  // barriers, clrex
    return effects(0, 0);
  }
  if (matches(word, 0xFFF00000U, 0xD5300000U)) {  // mrs
    return effects(0, rd(word));
  }
  const bool sets_register = matches(word, 0xFFF00000U, 0xD5100000U);  // msr
  return sets_register ? Effects(effects(rd(word), 0)) : std::nullopt;
}

Effects effects_of(std::uint32_t word) {
  const std::uint32_t group = field(word, 25, 4);
  if ((group & 0xEU) == 0x8U) {
    return of_immediate(word);
  }
  if ((group & 0xEU) == 0xAU) {
    return of_system(word);
  }
  if ((group & 0x5U) == 0x4U) {
    return of_memory(word);
  }
  if ((group & 0x7U) == 0x5U) {
    return of_registers(word);
  }
  // Vectors and floats; some take their value from a general register, some give one to it.
  return (group & 0x7U) == 0x7U ? Effects(effects(rn(word) | rm(word), 0)) : std::nullopt;
}

}  // namespace

LiveEffects live_effects(std::span<const std::byte> code) {
  const auto word = read_word(code);
  const Effects found = word ? effects_of(*word) : std::nullopt;
  return found.value_or(LiveEffects{.is_known = false});
}

}  // namespace sp::arch::aarch64
