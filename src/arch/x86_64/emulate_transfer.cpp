#include "arch/x86_64/emulate_step.h"
#include "arch/x86_64/flags.h"

namespace sp::arch::x86_64 {
namespace {

std::uint64_t direct_target(const EmulatedStep& step) {
  return step.next() + static_cast<std::uint64_t>(step.encoding.immediate);
}

Emulated jump_where(bool holds, EmulatedStep& step) {
  return holds ? step.go_to(direct_target(step)) : step.finish();
}

Emulated call(EmulatedStep& step, std::uint64_t target) {
  const std::uint64_t return_address = step.next();
  const Emulated jumped = step.go_to(target);
  return jumped == Emulated::done ? step.push(return_address) : jumped;
}

/// loopne, loope, loop and jrcxz, on ecx if the address size is 32 bits.
Emulated count_and_jump(EmulatedStep& step) {
  const unsigned width = step.encoding.address_size_prefix ? 4 : 8;
  const std::uint64_t before = read_register(step.registers, kRcx, width, true);
  if (step.encoding.opcode == 0xE3) {
    return jump_where(before == 0, step);
  }
  const std::uint64_t count = truncate(before - 1, width);
  write_register(step.registers, kRcx, width, true, count);
  const bool is_zero = (step.registers.eflags & kZero) != 0;
  bool holds = count != 0;
  if (step.encoding.opcode == 0xE0) {
    holds = holds && !is_zero;
  } else if (step.encoding.opcode == 0xE1) {
    holds = holds && is_zero;
  }
  return jump_where(holds, step);
}

/// Pops `released` bytes after the return address.
Emulated ret(EmulatedStep& step, std::uint64_t released) {
  const auto target = load(step.memory, core::Address{step.registers.rsp}, 8);
  if (!target) {
    return Emulated::memory_refused;
  }
  step.registers.rsp += 8 + released;
  return step.go_to(*target);
}

/// FF /2 and /4; the far forms are not emulated.
Emulated indirect(EmulatedStep& step) {
  const unsigned extension = step.encoding.extension();
  if (extension != 2 && extension != 4) {
    return Emulated::not_emulated;
  }
  const auto target = step.read_operand(8);
  if (!target) {
    return Emulated::memory_refused;
  }
  return extension == 2 ? call(step, *target) : step.go_to(*target);
}

/// loopne, loope, loop and jrcxz.
bool is_counted_jump(const Encoding& encoding) {
  return encoding.map == OpcodeMap::one_byte && (encoding.opcode & 0xFCU) == 0xE0U;
}

/// True where all CPUs agree on what a branch does with the prefixes that this one has. They ignore
/// 26, 2E (also a hint), 36, 3E (also a hint, and notrack), 67 but for counted jumps and memory
/// operands, and REX.
bool agree_on_prefixes(const Encoding& encoding) {
  constexpr std::uint8_t kRet = 0xC3;
  if (encoding.is_narrow()) {
    return false;  // see decode()
  }
  if (encoding.repne && is_counted_jump(encoding)) {
    return false;  // elsewhere F2 is bnd, which changes nothing without MPX
  }
  if (encoding.rep && (encoding.map != OpcodeMap::one_byte || encoding.opcode != kRet)) {
    return false;  // AMD recommends `rep ret` (Software Optimization Guide, "Two-Byte Near-Return")
  }
  return encoding.segment == Segment::flat || encoding.names_memory();
}

}  // namespace

Emulated emulate_transfer(EmulatedStep& step) {
  const Encoding& encoding = step.encoding;
  if (!agree_on_prefixes(encoding)) {
    return Emulated::not_emulated;
  }
  if (encoding.is_conditional_jump()) {
    return jump_where(condition_holds(encoding.opcode & 0xFU, step.registers.eflags), step);
  }
  if (encoding.map != OpcodeMap::one_byte) {
    return Emulated::not_emulated;
  }
  switch (encoding.opcode) {
    case 0xE0:
    case 0xE1:
    case 0xE2:
    case 0xE3:
      return count_and_jump(step);
    case 0xE8:
      return call(step, direct_target(step));
    case 0xE9:
    case 0xEB:
      return step.go_to(direct_target(step));
    case 0xC2:
      return ret(step, static_cast<std::uint64_t>(encoding.immediate) & 0xFFFFU);
    case 0xC3:
      return ret(step, 0);
    case 0xFF:
      return indirect(step);
    default:
      return Emulated::not_emulated;
  }
}

}  // namespace sp::arch::x86_64
