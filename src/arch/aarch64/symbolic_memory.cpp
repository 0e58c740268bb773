#include <cstdint>

#include "arch/aarch64/symbolic_families.h"
#include "arch/aarch64/symbolic_operands.h"

namespace sp::arch::aarch64 {
namespace {

/// A load or store of one register.
void access(SymbolicValues& values, std::uint32_t word, const SymbolicValue& address) {
  const unsigned width = 1U << field(word, 30, 2);
  const std::uint32_t operation = field(word, 22, 2);
  if (field(word, 26, 1) != 0) {  // vector registers
    if ((operation & 1U) == 0) {
      values.forget_memory();
    }
    return;
  }
  if (operation == 0) {
    values.store(address, width, values.extend(read_register(values, rd(word)), width, false));
  } else if (operation == 1) {
    write_register(values, rd(word), 8, values.load(address, width, false));
  } else if (width < 8) {  // else it is prfm
    write_register(values, rd(word), operation == 2 ? 8 : 4, values.load(address, width, true));
  }
}

void follow_indexed_access(SymbolicValues& values, std::uint32_t word) {
  const std::uint32_t mode = field(word, 10, 2);
  const auto offset = SymbolicValues::constant(signed_field(word, 12, 9));
  const SymbolicValue old = values.get(rn(word));
  const SymbolicValue moved = values.add(old, offset);
  constexpr std::uint32_t kPost = 1;
  constexpr std::uint32_t kPre = 3;
  if (mode == kPost || mode == kPre) {
    values.set(rn(word), moved);
  }
  access(values, word, mode == kPost ? old : moved);
}

void follow_pair(SymbolicValues& values, std::uint32_t word) {
  const bool is_load = field(word, 22, 1) != 0;
  const bool moves_base = field(word, 23, 1) != 0;
  const bool is_vector = field(word, 26, 1) != 0;
  const auto scale = std::uint64_t{4} << field(word, 31, 1);
  if (moves_base && !is_vector) {
    const std::uint64_t offset = signed_field(word, 15, 7) * scale;
    values.set(rn(word), values.add(values.get(rn(word)), SymbolicValues::constant(offset)));
  } else if (moves_base) {
    values.forget(rn(word));
  }
  if (!is_load) {
    values.forget_memory();
  } else if (!is_vector) {
    forget_register(values, rd(word));
    forget_register(values, field(word, 10, 5));
  }
}

}  // namespace

void follow_memory(SymbolicValues& values, std::uint32_t word) {
  if (matches(word, 0x3B000000U, 0x39000000U)) {
    const auto offset = std::uint64_t{field(word, 10, 12)} << field(word, 30, 2);
    access(values, word, values.add(values.get(rn(word)), SymbolicValues::constant(offset)));
  } else if (matches(word, 0x3B200C00U, 0x38200800U)) {
    const auto factor = std::uint64_t{1} << (field(word, 12, 1) * field(word, 30, 2));
    const SymbolicValue index = extended(values, rm(word), field(word, 13, 3));
    access(values, word, values.add(values.get(rn(word)), values.multiply(index, factor)));
  } else if (matches(word, 0x3B200000U, 0x38000000U)) {
    follow_indexed_access(values, word);
  } else if (matches(word, 0x3A000000U, 0x28000000U)) {
    follow_pair(values, word);
  } else if (matches(word, 0x3B000000U, 0x18000000U)) {  // ldr of a literal
    forget_register(values, rd(word));
  } else {  // exclusive, atomic and vector structures
    for (const unsigned low : {0U, 5U, 10U, 16U}) {
      values.forget(field(word, low, 5));
    }
    values.forget_memory();
  }
}

}  // namespace sp::arch::aarch64
