#include "arch/x86_64/operands.h"

#include <array>
#include <cstddef>
#include <span>

#include "arch/x86_64/flags.h"

namespace sp::arch::x86_64 {
namespace {

using Field = std::uint64_t Registers::*;
constexpr std::array<Field, 16> kGeneral = {
    &Registers::rax, &Registers::rcx, &Registers::rdx, &Registers::rbx,
    &Registers::rsp, &Registers::rbp, &Registers::rsi, &Registers::rdi,
    &Registers::r8,  &Registers::r9,  &Registers::r10, &Registers::r11,
    &Registers::r12, &Registers::r13, &Registers::r14, &Registers::r15};

bool is_high_byte(unsigned number, unsigned width, bool has_rex) {
  return width == 1 && !has_rex && number >= 4;
}

constexpr unsigned kNoIndex = 4;

/// Base and index of a memory operand that has a SIB byte.
std::uint64_t scaled_sum(Registers& registers, const Encoding& encoding) {
  std::uint64_t sum = 0;
  const bool has_base = encoding.mod() != 0 || (encoding.sib & 7U) != 5;
  if (has_base) {
    sum += general_register(registers, encoding.base());
  }
  if (encoding.index() != kNoIndex) {
    sum += general_register(registers, encoding.index()) << (encoding.sib >> 6U);
  }
  return sum;
}

}  // namespace

std::uint64_t& general_register(Registers& registers, unsigned number) {
  return registers.*kGeneral[number & 15U];
}

std::uint64_t read_register(Registers& registers, unsigned number, unsigned width, bool has_rex) {
  if (is_high_byte(number, width, has_rex)) {
    return (general_register(registers, number - 4) >> 8U) & 0xFFU;
  }
  return truncate(general_register(registers, number), width);
}

void write_register(Registers& registers, unsigned number, unsigned width, bool has_rex,
                    std::uint64_t value) {
  if (is_high_byte(number, width, has_rex)) {
    std::uint64_t& whole = general_register(registers, number - 4);
    whole = (whole & ~0xFF00ULL) | (truncate(value, 1) << 8U);
    return;
  }
  std::uint64_t& whole = general_register(registers, number);
  const std::uint64_t kept = width >= 4 ? 0 : whole - truncate(whole, width);
  whole = kept | truncate(value, width);
}

std::uint64_t effective_offset(Registers& registers, const Encoding& encoding) {
  auto offset = static_cast<std::uint64_t>(encoding.displacement);
  if (encoding.is_rip_relative()) {
    offset += registers.rip + encoding.length;
  } else if (encoding.has_sib) {
    offset += scaled_sum(registers, encoding);
  } else {
    offset += general_register(registers, encoding.rm());
  }
  return encoding.address_size_prefix ? truncate(offset, 4) : offset;
}

core::Address effective_address(Registers& registers, const Encoding& encoding) {
  const std::uint64_t offset = effective_offset(registers, encoding);
  switch (encoding.segment) {
    case Segment::flat:
      return core::Address{offset};
    case Segment::fs:
      return core::Address{registers.fs_base + offset};
    case Segment::gs:
      return core::Address{registers.gs_base + offset};
  }
  return core::Address{offset};
}

std::optional<std::uint64_t> load(MemoryAccess& memory, core::Address from, unsigned width) {
  std::array<std::byte, 8> bytes = {};
  // The kernel copies less than 8 bytes one by one, between which another thread may store: so the
  // word around them is read.
  const unsigned offset = from.value() % bytes.size();
  const bool is_in_word = width > 1 && offset + width <= bytes.size();
  const unsigned begin = is_in_word ? offset : 0;
  const core::Address read_from{from.value() - begin};
  if (!memory.read(read_from, std::span(bytes).first(is_in_word ? bytes.size() : width))) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (unsigned i = 0; i < width; ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[begin + i]) << (8U * i);
  }
  return value;
}

bool store(MemoryAccess& memory, core::Address to, std::uint64_t value) {
  std::array<std::byte, 8> bytes = {};
  for (unsigned i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>((value >> (8U * i)) & 0xFFU);
  }
  return memory.write(to, bytes);
}

}  // namespace sp::arch::x86_64
