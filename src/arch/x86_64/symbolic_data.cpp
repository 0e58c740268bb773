#include <algorithm>
#include <cstdint>

#include "arch/x86_64/operands.h"
#include "arch/x86_64/symbolic_families.h"
#include "arch/x86_64/symbolic_operands.h"
#include "arch/x86_64/symbolic_step.h"

namespace sp::arch::x86_64 {
namespace {

constexpr unsigned kRsi = 6;
constexpr unsigned kRdi = 7;

}  // namespace

void follow_stack(SymbolicValues& values, const Encoding& encoding) {
  const bool is_push = encoding.opcode < 0x58 || encoding.opcode == 0x68 || encoding.opcode == 0x6A;
  const auto eight = SymbolicValues::constant(8);
  if (is_push) {
    const SymbolicValue value =
        encoding.opcode < 0x58 ? values.get(encoding.opcode_reg()) : immediate_operand(encoding);
    values.set(kRsp, values.subtract(values.get(kRsp), eight));
    values.store(values.get(kRsp), 8, value);
  } else {
    const SymbolicValue value = values.load(values.get(kRsp), 8, false);
    values.set(kRsp, values.add(values.get(kRsp), eight));
    values.set(encoding.opcode_reg(), value);
  }
}

void follow_move(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const unsigned width = width_of(encoding, (encoding.opcode & 1U) == 0);
  const bool to_register = (encoding.opcode & 2U) != 0;
  if (to_register) {
    const SymbolicValue value = read_operand(values, encoding, address, width, false);
    write_register(values, encoding, encoding.reg(), width, value);
  } else {
    const SymbolicValue value = register_operand(values, encoding, encoding.reg(), width, false);
    write_operand(values, encoding, address, width, value);
  }
}

void follow_immediate_move(SymbolicValues& values, const Encoding& encoding,
                           core::Address address) {
  if (encoding.has_modrm) {
    write_operand(values, encoding, address, width_of(encoding, encoding.opcode == 0xC6),
                  immediate_operand(encoding));
  } else {
    write_register(values, encoding, encoding.opcode_reg(),
                   width_of(encoding, encoding.opcode < 0xB8), immediate_operand(encoding));
  }
}

void follow_extension(SymbolicValues& values, const Encoding& encoding, core::Address address,
                      unsigned from, bool is_signed) {
  write_register(values, encoding, encoding.reg(), width_of(encoding, false),
                 read_operand(values, encoding, address, from, is_signed));
}

void follow_widening(SymbolicValues& values, const Encoding& encoding) {
  if (encoding.opcode == 0x99) {  // cltd, cqto
    values.forget(kRdx);
    return;
  }
  const unsigned width = width_of(encoding, false);  // cwtl, cltq
  write_register(values, encoding, kRax, width, values.extend(values.get(kRax), width / 2, true));
}

void follow_exchange(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  write_operand(values, encoding, address, width_of(encoding, false), values.unknown());
  values.forget(encoding.reg());
}

void follow_string(SymbolicValues& values) {
  for (const unsigned reg : {kRax, kRcx, kRsi, kRdi}) {
    values.forget(reg);
  }
  values.forget_memory();
  values.forget_flags();
}

void follow_conditional_move(SymbolicValues& values, const Encoding& encoding,
                             core::Address address) {
  const unsigned width = width_of(encoding, false);
  const Relation relation = relation_of(encoding.opcode & 0xFU);
  const SymbolicValue moved = read_operand(values, encoding, address, width, false);
  const SymbolicValue kept = register_operand(values, encoding, encoding.reg(), width, false);
  const auto most_moved = values.most_if(relation, moved);
  const auto most_kept = values.most_if(opposite(relation), kept);
  const bool both = most_moved && most_kept;
  const SymbolicValue either =
      both ? values.unknown(std::max(*most_moved, *most_kept)) : values.unknown();
  write_register(values, encoding, encoding.reg(), width, either);
}

}  // namespace sp::arch::x86_64
