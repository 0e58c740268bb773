#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "arch/aarch64/emulate_step.h"
#include "arch/aarch64/encoding.h"

namespace sp::arch::aarch64 {
namespace {

constexpr unsigned kStackPointer = 31;  // as a base register

/// A stack pointer that is not a multiple of 16 faults when it is used (Arm ARM, D1.3.8.2).
bool is_aligned(std::uint64_t stack_pointer) { return stack_pointer % 16 == 0; }

std::optional<std::uint64_t> load(MemoryAccess& memory, std::uint64_t from, unsigned width = 8) {
  std::array<std::byte, 8> bytes = {};
  if (!memory.read(core::Address{from}, std::span(bytes).first(width))) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (unsigned i = 0; i < width; ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[i]) << (8U * i);
  }
  return value;
}

void put(std::span<std::byte> bytes, std::uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::byte>((value >> (8U * i)) & 0xFFU);
  }
}

/// stp x, x, [sp, #-n]!
Emulated push_pair(EmulatedStep& step) {
  const std::uint64_t offset = signed_field(step.word, 15, 7) * 8;
  const bool is_downwards = field(step.word, 21, 1) == 1;
  if (!is_downwards || !is_aligned(step.registers.sp)) {
    return Emulated::not_emulated;
  }
  std::array<std::byte, 16> pair = {};
  put(std::span(pair).first(8), step.x(field(step.word, 0, 5)));
  put(std::span(pair).last(8), step.x(field(step.word, 10, 5)));
  step.registers.sp += offset;
  step.finish();
  return step.memory.write(core::Address{step.registers.sp}, pair) ? Emulated::done
                                                                   : Emulated::memory_refused;
}

/// str x, [sp, #-n]!
Emulated push_one(EmulatedStep& step) {
  const bool is_downwards = field(step.word, 20, 1) == 1;
  if (!is_downwards || !is_aligned(step.registers.sp)) {
    return Emulated::not_emulated;
  }
  std::array<std::byte, 8> value = {};
  put(value, step.x(field(step.word, 0, 5)));
  step.registers.sp += signed_field(step.word, 12, 9);
  step.finish();
  return step.memory.write(core::Address{step.registers.sp}, value) ? Emulated::done
                                                                    : Emulated::memory_refused;
}

/// ldp x, x, [sp], #n and ldp x, x, [sp, #n]
Emulated load_pair(EmulatedStep& step, bool pops) {
  const unsigned first = field(step.word, 0, 5);
  const unsigned second = field(step.word, 10, 5);
  if (first == second || !is_aligned(step.registers.sp)) {
    return Emulated::not_emulated;  // the same register twice: unpredictable
  }
  const std::uint64_t offset = signed_field(step.word, 15, 7) * 8;
  const std::uint64_t from = step.registers.sp + (pops ? 0 : offset);
  const auto low = load(step.memory, from);
  const auto high = load(step.memory, from + 8);
  if (!low || !high) {
    return Emulated::memory_refused;
  }
  step.set_x(first, *low);
  step.set_x(second, *high);
  step.registers.sp += pops ? offset : 0;
  return step.finish();
}

/// ldr x, [sp], #n
Emulated pop_one(EmulatedStep& step) {
  if (!is_aligned(step.registers.sp)) {
    return Emulated::not_emulated;
  }
  const auto value = load(step.memory, step.registers.sp);
  if (!value) {
    return Emulated::memory_refused;
  }
  step.set_x(field(step.word, 0, 5), *value);
  step.registers.sp += signed_field(step.word, 12, 9);
  return step.finish();
}

/// ldr w, ldr x, ldrsw x of a literal.
Emulated load_literal(EmulatedStep& step) {
  const unsigned operation = field(step.word, 30, 2);
  if (operation == 3) {
    return step.finish();  // prfm: a hint
  }
  const auto value =
      load(step.memory, step.registers.pc + offset_19(step.word), operation == 1 ? 8 : 4);
  if (!value) {
    return Emulated::memory_refused;
  }
  constexpr std::uint64_t kSignOfWord = 1ULL << 31U;
  const bool is_signed = operation == 2;
  step.set_x(field(step.word, 0, 5), is_signed ? (*value ^ kSignOfWord) - kSignOfWord : *value);
  return step.finish();
}

/// nop, yield, bti: hints 0, 1 and 32 to 38. Others of that space make or check signatures, wait,
/// or move the guarded stack.
bool is_harmless_hint(std::uint32_t word) {
  if (!matches(word, 0xFFFFF01FU, 0xD503201FU)) {
    return false;
  }
  const std::uint32_t number = field(word, 5, 7);
  return number <= 1 || number == 32 || number == 34 || number == 36 || number == 38;
}

}  // namespace

Emulated emulate_data(EmulatedStep& step) {
  const std::uint32_t word = step.word;
  if (is_harmless_hint(word)) {
    return step.finish();
  }
  if (matches(word, 0x3F000000U, 0x18000000U)) {
    return load_literal(step);
  }
  if (field(word, 5, 5) != kStackPointer) {
    return Emulated::not_emulated;
  }
  if (matches(word, 0xFFC00000U, 0xA9800000U)) {
    return push_pair(step);
  }
  if (matches(word, 0xFFE00C00U, 0xF8000C00U)) {
    return push_one(step);
  }
  if (matches(word, 0xFFC00000U, 0xA8C00000U)) {
    return load_pair(step, true);
  }
  if (matches(word, 0xFFC00000U, 0xA9400000U)) {
    return load_pair(step, false);
  }
  if (matches(word, 0xFFE00C00U, 0xF8400400U)) {
    return pop_one(step);
  }
  return Emulated::not_emulated;
}

}  // namespace sp::arch::aarch64
