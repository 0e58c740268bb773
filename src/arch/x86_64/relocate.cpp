#include "arch/x86_64/relocate.h"

#include <cstdint>
#include <initializer_list>

#include "arch/x86_64/move.h"
#include "arch/x86_64/moved_operand.h"

namespace sp::arch::x86_64 {
namespace {

using core::Address;
using core::Flow;
using Code = std::optional<std::vector<std::byte>>;

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

  /// False if its displacement does not reach.
  bool add(MovedInstruction moved) {
    if (!place(moved, here())) {
      return false;
    }
    bytes(moved.code());
    return true;
  }

  /// Changes nothing but rip.
  void jump(Address target) {
    MovedInstruction near = jump_to(target);
    widen(near);
    if (!add(near)) {
      bytes({0xFF, 0x25, 0, 0, 0, 0});  // jmp *0(%rip), and the address it finds there
      number(target.value(), 8);
    }
  }

  /// A call's effect on the stack.
  void push(Address value) {
    for (const MovedInstruction& part : push_address(value)) {
      bytes(part.code());
    }
  }

  /// A direct jump that keeps the instruction's prefixes. A far target takes an indirect jump,
  /// which keeps only F2 and F3: the others would change its operand.
  void jump(const SourceInstruction& source, Address target) {
    const auto prefixes = source.prefixes();
    if (reaches(here() + prefixes.size() + 5, target, 4)) {
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

/// The instruction itself, with a rip-relative displacement corrected.
bool copy(const SourceInstruction& source, Assembler& out) {
  const auto moved = move_unchanged(source);
  return moved && out.add(*moved);
}

/// The jump of a direct jump or call.
Code relocate_jump(const SourceInstruction& source, Assembler& out) {
  const bool fits = source.encoding.opcode_offset + 5U <= kLongestInstruction;
  if (!fits) {
    return std::nullopt;  // a short jump with more prefixes than a near one can have
  }
  out.jump(source, *source.instruction.target);
  return out.take();
}

/// The short branch skips a jump to the next instruction and reaches one to the target.
Code relocate_branch(const SourceInstruction& source, Assembler& out) {
  const Encoding& encoding = source.encoding;
  if (encoding.has_modrm) {
    return std::nullopt;  // xbegin
  }
  const auto prefixes = source.prefixes();
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

Code relocate_indirect_call(const SourceInstruction& source, Assembler& out) {
  constexpr unsigned kNear = 2;
  if (source.encoding.extension() != kNear || source.encoding.is_narrow()) {
    return std::nullopt;
  }
  out.push(source.instruction.next());
  const auto jump = jump_through_operand(source);
  return jump && out.add(*jump) ? Code(out.take()) : std::nullopt;
}

}  // namespace

Code relocate(std::span<const std::byte> code, Address from, Address to) {
  const auto found = read_instruction(code, from);
  if (!found) {
    return std::nullopt;
  }
  const SourceInstruction& source = *found;
  Assembler out(to);
  switch (source.instruction.flow) {
    case Flow::jump:
      return relocate_jump(source, out);
    case Flow::branch:
      return relocate_branch(source, out);
    case Flow::call:
      out.push(source.instruction.next());
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
      out.jump(source.instruction.next());
      return out.take();
    case Flow::syscall:
    case Flow::stop:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace sp::arch::x86_64
