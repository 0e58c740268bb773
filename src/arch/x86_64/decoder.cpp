#include "arch/x86_64/decoder.h"

#include <algorithm>
#include <cstdint>

#include "arch/x86_64/encoding.h"

namespace sp::arch::x86_64 {
namespace {

using core::Flow;

constexpr std::uint8_t kLinuxSyscallVector = 0x80;

/// FF /2 to /5: near and far calls and jumps through a register or memory.
Flow flow_of_group_5(unsigned extension) {
  switch (extension) {
    case 2:
    case 3:
      return Flow::indirect_call;
    case 4:
    case 5:
      return Flow::indirect_jump;
    default:
      return Flow::next;
  }
}

Flow flow_of_one_byte(const Encoding& encoding) {
  switch (encoding.opcode) {
    case 0xE0:  // loopne
    case 0xE1:  // loope
    case 0xE2:  // loop
    case 0xE3:  // jrcxz, jecxz
      return Flow::branch;
    case 0xE8:
      return Flow::call;
    case 0xE9:
    case 0xEB:
      return Flow::jump;
    case 0xC2:  // ret, retf with and without an immediate, iret
    case 0xC3:
    case 0xCA:
    case 0xCB:
    case 0xCF:
      return Flow::ret;
    case 0xCC:  // int3
    case 0xF1:  // int1
    case 0xF4:  // hlt
      return Flow::stop;
    case 0xCD:  // every vector but this one ends in a signal
      return static_cast<std::uint8_t>(encoding.immediate) == kLinuxSyscallVector ? Flow::syscall
                                                                                  : Flow::stop;
    case 0xC7:  // xbegin: a failed transaction continues at its target
      return encoding.modrm == 0xF8 ? Flow::branch : Flow::next;
    case 0xFF:
      return flow_of_group_5(encoding.extension());
    default:
      return (encoding.opcode & 0xF0U) == 0x70U ? Flow::branch : Flow::next;  // jcc rel8
  }
}

Flow flow_of_two_byte(const Encoding& encoding) {
  switch (encoding.opcode) {
    case 0x05:  // syscall
    case 0x34:  // sysenter
      return Flow::syscall;
    case 0x07:  // sysret
    case 0x35:  // sysexit
      return Flow::ret;
    case 0x0B:  // ud2
    case 0xB9:  // ud1
    case 0xFF:  // ud0
      return Flow::stop;
    case 0x01:  // uiret is F3 0F 01 EC
      return encoding.rep && encoding.modrm == 0xEC ? Flow::ret : Flow::next;
    default:
      return (encoding.opcode & 0xF0U) == 0x80U ? Flow::branch : Flow::next;  // jcc rel32
  }
}

Flow flow_of(const Encoding& encoding) {
  switch (encoding.map) {
    case OpcodeMap::one_byte:
      return flow_of_one_byte(encoding);
    case OpcodeMap::two_byte:
      return flow_of_two_byte(encoding);
    case OpcodeMap::three_byte_38:
    case OpcodeMap::three_byte_3a:
    case OpcodeMap::vector:
      return Flow::next;
  }
  return Flow::next;
}

}  // namespace

std::optional<core::Instruction> decode(std::span<const std::byte> bytes, core::Address address) {
  const std::optional<Encoding> encoding = read_encoding(bytes);
  return encoding ? instruction_of(*encoding, address) : std::nullopt;
}

std::optional<core::Instruction> instruction_of(const Encoding& encoding, core::Address address) {
  core::Instruction instruction;
  instruction.address = address;
  instruction.length = encoding.length;
  instruction.flow = flow_of(encoding);
  const Flow flow = instruction.flow;
  if (flow == Flow::jump || flow == Flow::branch || flow == Flow::call) {
    const bool is_xbegin = encoding.has_modrm;
    if (encoding.is_narrow() && !is_xbegin) {
      // Intel's CPUs ignore the prefix, AMD's take a 16-bit displacement and cut rip to 16 bits
      // (SDM volume 2, "CALL"; APM volume 3, section 1.2.3), so that neither target nor length is
      // known. No compiler emits these.
      return std::nullopt;
    }
    instruction.target = instruction.next() + static_cast<std::uint64_t>(encoding.immediate);
  }
  return instruction;
}

// Prefixes, opcode, ModRM and SIB, at most seven bytes, and their number.
std::uint64_t encoding_kind(std::span<const std::byte> bytes) {
  const std::optional<Encoding> encoding = read_encoding(bytes);
  if (!encoding) {
    return 0;
  }
  constexpr std::uint8_t kMost = 7;
  const bool displaced = encoding->displacement_size != 0;
  const std::uint8_t size =
      std::min(kMost, displaced ? encoding->displacement_offset : encoding->immediate_offset);
  std::uint64_t kind = size;
  for (std::size_t i = 0; i < size; ++i) {
    kind = kind << 8U | std::to_integer<std::uint64_t>(bytes[i]);
  }
  return kind;
}

}  // namespace sp::arch::x86_64
