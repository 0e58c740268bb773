#include "arch/x86_64/pointer_source.h"

#include "arch/x86_64/jump_table.h"
#include "arch/x86_64/operands.h"

namespace sp::arch::x86_64 {
namespace {

/// mov to or from r/m of 64 bits.
bool is_wide_move(const Encoding& encoding, unsigned opcode) {
  return encoding.map == OpcodeMap::one_byte && encoding.opcode == opcode && encoding.wide();
}

/// Neither of them computes anything.
bool is_load_or_copy(const Encoding& encoding, unsigned reg) {
  return (is_wide_move(encoding, 0x8B) && encoding.reg() == reg) ||
         (is_wide_move(encoding, 0x89) && encoding.names_register() && encoding.rm() == reg);
}

bool is_leave(const Encoding& encoding) {
  return encoding.map == OpcodeMap::one_byte && encoding.opcode == 0xC9;
}

/// pop of a register that functions preserve.
bool restores_register(const Encoding& encoding) {
  constexpr unsigned kRbx = 3;
  constexpr unsigned kFirstOfTheRest = 12;
  const unsigned reg = encoding.opcode_reg();
  return encoding.map == OpcodeMap::one_byte && (encoding.opcode & 0xF8U) == 0x58 &&
         (reg == kRbx || reg == kRbp || reg >= kFirstOfTheRest);
}

/// The caller's registers are restored in front of a jump by a register, which nothing computes in
/// between: a tail call. Where a function jumps within itself, its frame stays.
bool is_behind_epilogue(std::span<const SourceInstruction> before, unsigned reg) {
  bool restores = false;
  for (auto source = before.rbegin(); source != before.rend(); ++source) {
    if (is_leave(source->encoding) && reg != kRbp) {
      restores = true;
      continue;
    }
    restores = restores || restores_register(source->encoding);
    if (effect_on({source->instruction.address, source->code}, reg).changes) {
      return restores && is_load_or_copy(source->encoding, reg);
    }
  }
  return restores;
}

bool is_pop_of(const Encoding& encoding, unsigned reg) {
  return encoding.map == OpcodeMap::one_byte && (encoding.opcode & 0xF8U) == 0x58 &&
         encoding.opcode_reg() == reg;
}

/// mov of another register to rsp; of a frame pointer it would not leave the frame.
bool takes_other_stack(const Encoding& encoding) {
  return encoding.names_register() &&
         ((is_wide_move(encoding, 0x89) && encoding.rm() == kRsp && encoding.reg() != kRbp) ||
          (is_wide_move(encoding, 0x8B) && encoding.reg() == kRsp && encoding.rm() != kRbp));
}

/// GCC's __builtin_eh_return, with which an unwinder goes to a frame further out: rsp is set to
/// that frame, and the jump is to what it pops there, as a return is.
bool is_exception_return(std::span<const SourceInstruction> before, unsigned reg) {
  return before.size() >= 2 && is_pop_of(before.back().encoding, reg) &&
         takes_other_stack(before[before.size() - 2].encoding);
}

/// Memory on the stack may hold what the function has computed.
bool is_pointer_in(const Encoding& memory, bool has_frame_pointer) {
  const unsigned base = memory.has_sib ? memory.base() : memory.rm();
  const bool is_absolute = memory.has_sib && memory.mod() == 0 && (memory.sib & 7U) == 5;
  return memory.is_rip_relative() || is_absolute ||
         (base != kRsp && (base != kRbp || !has_frame_pointer));
}

}  // namespace

bool sets_frame_pointer(const SourceInstruction& source) {
  const Encoding& encoding = source.encoding;
  return is_wide_move(encoding, 0x89) && encoding.names_register() && encoding.reg() == kRsp;
}

PointerSource jump_source(const SourceInstruction& jump, bool has_frame_pointer) {
  using Kind = PointerSource::Kind;
  if (jump.encoding.names_memory()) {
    return {is_pointer_in(jump.encoding, has_frame_pointer) ? Kind::pointer : Kind::computed, 0};
  }
  return {Kind::copied, jump.encoding.rm()};
}

PointerSource source_of(const SourceInstruction& source, unsigned reg, bool has_frame_pointer) {
  using Kind = PointerSource::Kind;
  const Encoding& encoding = source.encoding;
  if (!effect_on({source.instruction.address, source.code}, reg).changes) {
    return {Kind::kept, 0};
  }
  if (is_wide_move(encoding, 0x8B) && encoding.reg() == reg && encoding.names_memory()) {
    return {is_pointer_in(encoding, has_frame_pointer) ? Kind::pointer : Kind::computed, 0};
  }
  if (is_wide_move(encoding, 0x89) && encoding.names_register() && encoding.rm() == reg) {
    return {Kind::copied, encoding.reg()};
  }
  if (is_wide_move(encoding, 0x8B) && encoding.names_register() && encoding.reg() == reg) {
    return {Kind::copied, encoding.rm()};
  }
  return {Kind::computed, 0};
}

bool leaves_frame(std::span<const SourceInstruction> before, unsigned reg) {
  return is_behind_epilogue(before, reg) || is_exception_return(before, reg);
}

}  // namespace sp::arch::x86_64
