#include "arch/x86_64/relocate.h"

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "arch/x86_64/decoder.h"
#include "arch/x86_64/encoding.h"

namespace sp::arch::x86_64 {
namespace {

using core::Address;
using core::Flow;
using Code = std::optional<std::vector<std::byte>>;

constexpr unsigned kRsp = 4;

std::optional<std::uint32_t> as_32_bits(std::int64_t value) {
  if (value < std::numeric_limits<std::int32_t>::min() ||
      value > std::numeric_limits<std::int32_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(value));
}

std::int64_t distance(Address from, Address to) {
  return static_cast<std::int64_t>(to.value() - from.value());
}

struct Source {
  std::span<const std::byte> code;  // the instruction's own bytes
  const Encoding& encoding;
  const core::Instruction& instruction;
};

/// Legacy prefixes and REX.
std::span<const std::byte> prefixes_of(const Source& source) {
  return source.code.first(source.encoding.opcode_offset);
}

/// Emits code for a known address.
class Assembler {
 public:
  explicit Assembler(Address start) : start_(start) {}

  void bytes(std::initializer_list<unsigned> values) {
    for (const unsigned value : values) {
      code_.push_back(static_cast<std::byte>(value));
    }
  }
  void bytes(std::span<const std::byte> values) {
    code_.insert(code_.end(), values.begin(), values.end());
  }
  void number(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
      code_.push_back(static_cast<std::byte>((value >> (8U * i)) & 0xFFU));
    }
  }

  /// Changes nothing but rip.
  void jump(Address target) {
    const auto displacement = as_32_bits(distance(here() + 5, target));
    if (displacement) {
      bytes({0xE9});  // jmp rel32
      number(*displacement, 4);
    } else {
      bytes({0xFF, 0x25, 0, 0, 0, 0});  // jmp *0(%rip), and the address it finds there
      number(target.value(), 8);
    }
  }

  /// A call's effect on the stack. push takes only a sign-extended 32-bit immediate.
  void push(std::uint64_t value) {
    const auto low = static_cast<std::uint32_t>(value);
    bytes({0x68});  // push imm32
    number(low, 4);
    const auto pushed = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(low)});
    if (pushed != value) {
      bytes({0xC7, 0x44, 0x24, 0x04});  // movl imm32, 4(%rsp)
      number(value >> 32U, 4);
    }
  }

  /// A direct jump that keeps the instruction's prefixes. A far target takes an indirect jump,
  /// which keeps only F2 and F3: the others would change its operand.
  void jump(const Source& source, Address target) {
    const auto prefixes = prefixes_of(source);
    const auto displacement = as_32_bits(distance(here() + prefixes.size() + 5, target));
    if (displacement) {
      bytes(prefixes);
    } else if (source.encoding.repne || source.encoding.rep) {
      bytes({source.encoding.repne ? 0xF2U : 0xF3U});
    }
    jump(target);
  }

  [[nodiscard]] Address here() const { return start_ + code_.size(); }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(code_); }

 private:
  Address start_;
  std::vector<std::byte> code_;
};

/// The displacement that names the same address in an instruction that ends at `end`.
std::optional<std::uint32_t> moved_displacement(const Source& source, Address end) {
  if (source.encoding.address_size_prefix) {
    return std::nullopt;  // relative to eip: unused in practice
  }
  const Address place =
      source.instruction.next() + static_cast<std::uint64_t>(source.encoding.displacement);
  return as_32_bits(distance(end, place));
}

/// The instruction itself, with a rip-relative displacement corrected.
bool copy(const Source& source, Assembler& out) {
  const Encoding& encoding = source.encoding;
  if (!encoding.is_rip_relative()) {
    out.bytes(source.code);
    return true;
  }
  const auto displacement = moved_displacement(source, out.here() + encoding.length);
  if (!displacement) {
    return false;
  }
  out.bytes(source.code.first(encoding.displacement_offset));
  out.number(*displacement, 4);
  out.bytes(source.code.subspan(encoding.displacement_offset + 4U));
  return true;
}

/// The jump of a direct jump or call.
Code relocate_jump(const Source& source, Assembler& out) {
  const bool fits = source.encoding.opcode_offset + 5U <= kLongestInstruction;
  if (!fits) {
    return std::nullopt;  // a short jump with more prefixes than a near one can have
  }
  out.jump(source, *source.instruction.target);
  return out.take();
}

/// The short branch skips a jump to the next instruction and reaches one to the target.
Code relocate_branch(const Source& source, Assembler& out) {
  const Encoding& encoding = source.encoding;
  if (encoding.has_modrm) {
    return std::nullopt;  // xbegin
  }
  const auto prefixes = prefixes_of(source);
  Assembler to_next(out.here() + prefixes.size() + 2);
  to_next.jump(source.instruction.next());
  const std::vector<std::byte> over = to_next.take();

  const bool is_near = encoding.map == OpcodeMap::two_byte;  // 0F 8x: as 7x
  out.bytes(prefixes);
  out.bytes({is_near ? encoding.opcode - 0x10U : encoding.opcode});
  out.number(over.size(), 1);
  out.bytes(over);
  out.jump(*source.instruction.target);
  return out.take();
}

/// jmp through the operand of a call, after the call's push has moved rsp.
bool jump_through_operand(const Source& source, Assembler& out) {
  Encoding operand = source.encoding;
  const bool is_on_stack = operand.has_sib && operand.base() == kRsp;
  const bool is_rsp = operand.names_register() && operand.rm() == kRsp;
  // The push may have overwritten an operand below rsp. (Another register may point there too, but
  // no program keeps a function pointer in memory that it does not own.)
  if (is_rsp || (is_on_stack && (operand.displacement < 0 || operand.index() != kRsp))) {
    return false;
  }
  unsigned modrm = (operand.modrm & 0xC7U) | (4U << 3U);  // FF /4 is jmp
  std::optional<std::uint32_t> displacement =
      as_32_bits(operand.displacement + (is_on_stack ? 8 : 0));
  if (is_on_stack) {
    modrm = (modrm & 0x3FU) | (2U << 6U);  // a displacement of 32 bits
    operand.displacement_size = 4;
  }
  const unsigned rest = operand.has_sib ? 3 : 2;
  if (operand.opcode_offset + rest + operand.displacement_size > kLongestInstruction) {
    return false;
  }
  out.bytes(prefixes_of(source));
  if (operand.is_rip_relative()) {
    displacement = moved_displacement(source, out.here() + rest + 4);
  }
  if (!displacement) {
    return false;
  }
  out.bytes({0xFF, modrm});
  if (operand.has_sib) {
    out.bytes({operand.sib});
  }
  out.number(*displacement, operand.displacement_size);
  return true;
}

Code relocate_indirect_call(const Source& source, Assembler& out) {
  constexpr unsigned kNear = 2;
  if (source.encoding.extension() != kNear || source.encoding.is_narrow()) {
    return std::nullopt;
  }
  out.push(source.instruction.next().value());
  if (!jump_through_operand(source, out)) {
    return std::nullopt;
  }
  return out.take();
}

}  // namespace

Code relocate(std::span<const std::byte> code, Address from, Address to) {
  const auto encoding = read_encoding(code);
  const auto instruction = decode(code, from);
  if (!encoding || !instruction) {
    return std::nullopt;
  }
  const Source source{code.first(encoding->length), *encoding, *instruction};
  Assembler out(to);
  switch (instruction->flow) {
    case Flow::jump:
      return relocate_jump(source, out);
    case Flow::branch:
      return relocate_branch(source, out);
    case Flow::call:
      out.push(instruction->next().value());
      return relocate_jump(source, out);
    case Flow::indirect_call:
      return relocate_indirect_call(source, out);
    case Flow::indirect_jump:
    case Flow::ret:
      return copy(source, out) ? Code(out.take()) : std::nullopt;
    case Flow::next:
      if (!copy(source, out)) {
        return std::nullopt;
      }
      out.jump(instruction->next());
      return out.take();
    case Flow::syscall:
    case Flow::stop:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace sp::arch::x86_64
