#include "arch/aarch64/pointer_source.h"

#include "arch/aarch64/counting.h"
#include "arch/aarch64/encoding.h"

namespace sp::arch::aarch64 {
namespace {

using Kind = PointerSource::Kind;

constexpr unsigned kFramePointer = 29;
constexpr unsigned kStackPointer = 31;

/// mov of a whole register.
bool is_copy_to(std::uint32_t word, unsigned reg) {
  return matches(word, 0xFFE0FFE0U, 0xAA0003E0U) && field(word, 0, 5) == reg;
}

/// ldr of 64 bits to the register, with any address but a literal's.
bool is_load_to(std::uint32_t word, unsigned reg) {
  const bool is_load = matches(word, 0xFFC00000U, 0xF9400000U) ||
                       matches(word, 0xFFE00000U, 0xF8400000U) ||
                       matches(word, 0xFFE00C00U, 0xF8600800U);
  return is_load && field(word, 0, 5) == reg;
}

/// ldp x, x
bool is_pair_load_to(std::uint32_t word, unsigned reg) {
  return matches(word, 0xFE400000U, 0xA8400000U) &&
         (field(word, 0, 5) == reg || field(word, 10, 5) == reg);
}

/// Whether later code may find another value in the register.
bool may_change(const SourceInstruction& source, unsigned reg) {
  const std::uint32_t word = source.word;
  const LiveEffects effects = live_effects(source.code);
  if (!effects.is_known || (effects.overwrites & (1U << reg)) != 0) {
    return true;
  }
  // Where live_effects() names no register: exclusive and vector instructions, addresses that are
  // written back, hints that sign, calls.
  const std::uint32_t group = field(word, 25, 4);
  const bool is_memory = (group & 0x5U) == 0x4U;
  const bool is_system = (group & 0xEU) == 0xAU;
  const bool names = field(word, 0, 5) == reg || (is_memory && field(word, 5, 5) == reg) ||
                     (is_memory && (field(word, 16, 5) == reg || field(word, 10, 5) == reg));
  if (matches(word, 0x3A400000U, 0x28000000U)) {
    return is_memory && field(word, 5, 5) == reg;  // stp, which may write its address back
  }
  const bool is_hint = is_system && (effects.reads & (1U << reg)) != 0 && reg >= 15;
  const bool is_store_or_plain_load =
      matches(word, 0x3B000000U, 0x39000000U) || is_copy_to(word, kStackPointer);
  return is_hint || ((is_memory || (group & 0x7U) == 0x7U) && names && !is_store_or_plain_load);
}

/// ldp of x19 to x30 from the stack.
bool restores_registers(std::uint32_t word) {
  constexpr unsigned kFirst = 19;
  return matches(word, 0xFE400000U, 0xA8400000U) && field(word, 5, 5) == kStackPointer &&
         field(word, 0, 5) >= kFirst && field(word, 0, 5) <= kLinkRegister;
}

}  // namespace

bool sets_frame_pointer(const SourceInstruction& source) {
  // add x29, sp, #n
  return matches(source.word, 0xFF8003FFU, 0x910003FDU);
}

PointerSource jump_source(const SourceInstruction& jump, bool /*has_frame_pointer*/) {
  return {authenticates(jump.word) ? Kind::pointer : Kind::copied, field(jump.word, 5, 5)};
}

PointerSource source_of(const SourceInstruction& source, unsigned reg, bool has_frame_pointer) {
  const std::uint32_t word = source.word;
  const unsigned base = field(word, 5, 5);
  const bool is_of_frame = base == kStackPointer || (base == kFramePointer && has_frame_pointer);
  if (is_copy_to(word, reg) && field(word, 16, 5) != kZeroRegister) {
    return {Kind::copied, field(word, 16, 5)};
  }
  if ((is_load_to(word, reg) || is_pair_load_to(word, reg)) && base != reg) {
    return {is_of_frame ? Kind::computed : Kind::pointer, 0};
  }
  if (is_load_to(word, reg)) {
    const bool writes_back = matches(word, 0xFFE00400U, 0xF8400400U);
    return {is_of_frame || writes_back ? Kind::computed : Kind::pointer, 0};
  }
  return {may_change(source, reg) ? Kind::computed : Kind::kept, 0};
}

bool leaves_frame(std::span<const SourceInstruction> before, unsigned reg) {
  bool restores = false;
  for (auto source = before.rbegin(); source != before.rend(); ++source) {
    restores = restores || restores_registers(source->word);
    if (may_change(*source, reg)) {
      return restores && (is_copy_to(source->word, reg) || is_load_to(source->word, reg));
    }
  }
  return restores;
}

}  // namespace sp::arch::aarch64
