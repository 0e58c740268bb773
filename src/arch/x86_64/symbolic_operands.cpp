#include "arch/x86_64/symbolic_operands.h"

namespace sp::arch::x86_64 {

unsigned width_of(const Encoding& encoding, bool is_byte) {
  if (is_byte) {
    return 1;
  }
  const unsigned narrow = encoding.operand_size_prefix ? 2U : 4U;
  return encoding.wide() ? 8U : narrow;
}

SymbolicValue address_operand(SymbolicValues& values, const Encoding& encoding,
                              core::Address address) {
  auto sum = SymbolicValues::constant(static_cast<std::uint64_t>(encoding.displacement));
  if (encoding.is_rip_relative()) {
    sum.constant += (address + encoding.length).value();
  } else if (encoding.has_sib) {
    constexpr unsigned kNoIndex = 4;
    if (encoding.mod() != 0 || (encoding.sib & 7U) != 5) {
      sum = values.add(sum, values.get(encoding.base()));
    }
    if (encoding.index() != kNoIndex) {
      const auto factor = std::uint64_t{1} << (encoding.sib >> 6U);
      sum = values.add(sum, values.multiply(values.get(encoding.index()), factor));
    }
  } else {
    sum = values.add(sum, values.get(encoding.rm()));
  }
  return encoding.address_size_prefix ? values.extend(sum, 4, false) : sum;
}

SymbolicValue register_operand(SymbolicValues& values, const Encoding& encoding, unsigned reg,
                               unsigned width, bool is_signed) {
  if (width == 1 && encoding.rex == 0 && reg >= 4) {  // ah, ch, dh, bh
    return values.unknown(0xFF);
  }
  return values.extend(values.get(reg), width, is_signed);
}

SymbolicValue read_operand(SymbolicValues& values, const Encoding& encoding, core::Address address,
                           unsigned width, bool is_signed) {
  if (encoding.names_register()) {
    return register_operand(values, encoding, encoding.rm(), width, is_signed);
  }
  if (encoding.segment != Segment::flat) {
    return values.unknown();
  }
  return values.load(address_operand(values, encoding, address), width, is_signed);
}

void write_register(SymbolicValues& values, const Encoding& encoding, unsigned reg, unsigned width,
                    const SymbolicValue& value) {
  if (width == 8) {
    values.set(reg, value);
  } else if (width == 4) {
    values.set(reg, values.extend(value, 4, false));
  } else {
    values.forget(width == 1 && encoding.rex == 0 && reg >= 4 ? reg - 4 : reg);
  }
}

void write_operand(SymbolicValues& values, const Encoding& encoding, core::Address address,
                   unsigned width, const SymbolicValue& value) {
  if (encoding.names_register()) {
    write_register(values, encoding, encoding.rm(), width, value);
  } else if (encoding.segment != Segment::flat) {
    values.forget_memory();
  } else {
    values.store(address_operand(values, encoding, address), width, value);
  }
}

}  // namespace sp::arch::x86_64
