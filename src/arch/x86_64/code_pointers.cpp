#include "arch/x86_64/code_pointers.h"

#include <cstddef>

#include "arch/x86_64/encoding.h"

namespace sp::arch::x86_64 {

std::vector<std::uint64_t> code_pointers(std::span<const std::byte> code, core::Address address) {
  constexpr std::uint8_t kLea = 0x8D;
  constexpr std::uint8_t kPointerSize = 4;
  std::vector<std::uint64_t> values;
  if (code.size() <= kPointerSize) {
    return values;
  }
  const auto encoding = read_encoding(code);
  if (!encoding) {
    return values;
  }
  const std::uint64_t next = address.value() + encoding->length;
  if (encoding->map == OpcodeMap::one_byte && encoding->opcode == kLea &&
      encoding->is_rip_relative()) {
    values.push_back(next + static_cast<std::uint64_t>(encoding->displacement));
  }
  const bool is_branch =
      encoding->map == OpcodeMap::two_byte && (encoding->opcode & 0xF0U) == 0x80U;
  const bool is_call_or_jump =
      encoding->map == OpcodeMap::one_byte && (encoding->opcode & 0xFEU) == 0xE8U;
  if (encoding->immediate_size >= kPointerSize && !is_branch && !is_call_or_jump) {
    const auto immediate = static_cast<std::uint64_t>(encoding->immediate);
    values.push_back(immediate);
    values.push_back(immediate & 0xFFFFFFFFU);
  }
  // An absolute address as displacement: a table of pointers, or a base that is added to.
  if (encoding->displacement_size == kPointerSize && encoding->map == OpcodeMap::one_byte &&
      encoding->opcode == kLea && !encoding->is_rip_relative()) {
    values.push_back(static_cast<std::uint64_t>(encoding->displacement));
  }
  return values;
}

std::optional<std::uint64_t> named_memory(std::span<const std::byte> code, core::Address address) {
  constexpr std::size_t kShortest = 6;  // opcode, ModRM, displacement
  if (code.size() < kShortest) {
    return std::nullopt;
  }
  const auto encoding = read_encoding(code);
  if (!encoding || !encoding->is_rip_relative()) {
    return std::nullopt;
  }
  const std::uint64_t next = address.value() + encoding->length;
  return next + static_cast<std::uint64_t>(encoding->displacement);
}

}  // namespace sp::arch::x86_64
