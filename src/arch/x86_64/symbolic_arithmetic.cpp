#include <cstdint>

#include "arch/x86_64/operands.h"
#include "arch/x86_64/symbolic_families.h"
#include "arch/x86_64/symbolic_operands.h"

namespace sp::arch::x86_64 {
namespace {

enum class Operation : unsigned { add, bit_or, adc, sbb, bit_and, sub, bit_xor, cmp };

/// Sets the flags and returns the result, which `cmp` discards.
SymbolicValue calculate(SymbolicValues& values, Operation operation, const SymbolicValue& a,
                        const SymbolicValue& b, unsigned width) {
  if (operation == Operation::sub || operation == Operation::cmp) {
    values.compare(a, b, width);
    return values.subtract(a, b);
  }
  values.forget_flags();
  if (operation == Operation::add) {
    return values.add(a, b);
  }
  if (operation == Operation::bit_and && (a.is_constant() || b.is_constant())) {
    const SymbolicValue mask = values.extend(a.is_constant() ? a : b, width, false);
    return values.unknown(mask.constant);
  }
  const bool is_zero = a == b && operation == Operation::bit_xor;
  return is_zero ? SymbolicValues::constant(0) : values.unknown();
}

}  // namespace

void follow_arithmetic(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const auto operation = static_cast<Operation>((encoding.opcode >> 3U) & 7U);
  const unsigned form = encoding.opcode & 7U;
  const unsigned width = width_of(encoding, (form & 1U) == 0);
  const bool is_immediate = form >= 4;
  const SymbolicValue rm = is_immediate ? register_operand(values, encoding, kRax, width, false)
                                        : read_operand(values, encoding, address, width, false);
  const SymbolicValue reg = is_immediate
                                ? immediate_operand(encoding)
                                : register_operand(values, encoding, encoding.reg(), width, false);
  const bool to_register = form == 2 || form == 3;
  const SymbolicValue result = to_register ? calculate(values, operation, reg, rm, width)
                                           : calculate(values, operation, rm, reg, width);
  if (operation == Operation::cmp) {
    return;
  }
  if (is_immediate) {
    write_register(values, encoding, kRax, width, result);
  } else if (to_register) {
    write_register(values, encoding, encoding.reg(), width, result);
  } else {
    write_operand(values, encoding, address, width, result);
  }
}

void follow_group_1(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const auto operation = static_cast<Operation>(encoding.extension());
  const unsigned width = width_of(encoding, (encoding.opcode & 1U) == 0);
  const SymbolicValue old = read_operand(values, encoding, address, width, false);
  const SymbolicValue immediate = immediate_operand(encoding);
  const SymbolicValue result = calculate(values, operation, old, immediate, width);
  if (operation != Operation::cmp) {
    write_operand(values, encoding, address, width, result);
  }
}

void follow_shift(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const unsigned width = width_of(encoding, (encoding.opcode & 1U) == 0);
  const SymbolicValue old = read_operand(values, encoding, address, width, false);
  const bool by_cl = (encoding.opcode & 0xFEU) == 0xD2U;
  const bool by_one = (encoding.opcode & 0xFEU) == 0xD0U;
  const auto by =
      by_one ? 1U : static_cast<unsigned>(encoding.immediate) & (width == 8 ? 63U : 31U);
  values.forget_flags();
  SymbolicValue result = values.unknown();
  if (!by_cl && (encoding.extension() == 4 || encoding.extension() == 6)) {
    result = values.multiply(old, std::uint64_t{1} << by);
  } else if (!by_cl && encoding.extension() == 5 && width >= 4) {
    result = values.unknown(values.most(old).value_or(~std::uint64_t{0}) >> by);
  }
  write_operand(values, encoding, address, width, result);
}

void follow_multiplication(SymbolicValues& values, const Encoding& encoding,
                           core::Address address) {
  const unsigned width = width_of(encoding, false);
  const SymbolicValue factor = read_operand(values, encoding, address, width, false);
  values.forget_flags();
  write_register(values, encoding, encoding.reg(), width,
                 values.multiply(factor, static_cast<std::uint64_t>(encoding.immediate)));
}

void follow_group_3(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const unsigned extension = encoding.extension();
  values.forget_flags();
  if (extension == 2 || extension == 3) {  // not, neg
    write_operand(values, encoding, address, width_of(encoding, (encoding.opcode & 1U) == 0),
                  values.unknown());
  } else if (extension >= 4) {  // mul, imul, div, idiv
    values.forget(kRax);
    values.forget(kRdx);
  }
}

void follow_count(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const unsigned width = width_of(encoding, (encoding.opcode & 1U) == 0);
  const auto one = SymbolicValues::constant(encoding.extension() == 0 ? 1 : ~std::uint64_t{0});
  values.forget_flags();
  const SymbolicValue old = read_operand(values, encoding, address, width, false);
  write_operand(values, encoding, address, width, values.add(old, one));
}

}  // namespace sp::arch::x86_64
