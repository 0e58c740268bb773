#include "arch/x86_64/move.h"

#include <limits>

#include "arch/x86_64/decoder.h"
#include "arch/x86_64/operands.h"

namespace sp::arch::x86_64 {
namespace {

using core::Address;
using core::CopyRefusal;
using core::Flow;

std::int64_t distance(Address from, Address to) {
  return static_cast<std::int64_t>(to.value() - from.value());
}

template <class Number>
bool holds(std::int64_t value) {
  return value >= std::numeric_limits<Number>::min() && value <= std::numeric_limits<Number>::max();
}

/// Reads or changes gs or its base, other than by a prefix.
bool names_gs(const Encoding& encoding) {
  constexpr unsigned kGs = 5;
  const unsigned extension = encoding.extension();
  if (encoding.map == OpcodeMap::one_byte) {
    return (encoding.opcode == 0x8C || encoding.opcode == 0x8E) && extension == kGs;
  }
  if (encoding.map != OpcodeMap::two_byte) {
    return false;
  }
  switch (encoding.opcode) {
    case 0xA8:  // push gs
    case 0xA9:  // pop gs
    case 0xB5:  // lgs
      return true;
    case 0xAE:  // rdgsbase, wrgsbase
      return encoding.rep && encoding.names_register() && (extension == 1 || extension == 3);
    case 0x01:  // swapgs
      return encoding.modrm == 0xF8;
    default:
      return false;
  }
}

/// Far calls, jumps and returns, returns from interrupts.
bool is_far(const Encoding& encoding, Flow flow) {
  switch (flow) {
    case Flow::ret:
      return encoding.map != OpcodeMap::one_byte ||
             (encoding.opcode != 0xC2 && encoding.opcode != 0xC3);
    case Flow::indirect_call:
      return encoding.extension() != 2;
    case Flow::indirect_jump:
      return encoding.extension() != 4;
    case Flow::next:
    case Flow::jump:
    case Flow::branch:
    case Flow::call:
    case Flow::syscall:
    case Flow::stop:
      return false;
  }
  return false;
}

bool is_unmovable(const Encoding& encoding, Flow flow) {
  const bool is_one_byte = encoding.map == OpcodeMap::one_byte;
  const bool is_two_byte = encoding.map == OpcodeMap::two_byte;
  const bool is_locked_transfer = encoding.lock && flow != Flow::next;  // not an instruction
  if (encoding.conflicting_prefixes || is_locked_transfer || is_far(encoding, flow)) {
    return true;
  }
  if (encoding.is_rip_relative() && encoding.address_size_prefix) {
    return true;  // relative to eip
  }
  switch (flow) {
    case Flow::branch:
      return encoding.has_modrm;  // xbegin
    case Flow::syscall:
      return is_two_byte && encoding.opcode == 0x34;  // sysenter
    case Flow::stop:
      return is_one_byte && (encoding.opcode == 0xCD || encoding.opcode == 0xF1);  // int n, int1
    case Flow::next:
      // mov ss: no interrupt or trap comes between it and the next instruction.
      return is_one_byte && encoding.opcode == 0x8E && encoding.extension() == 2;
    case Flow::jump:
    case Flow::call:
    case Flow::indirect_jump:
    case Flow::indirect_call:
    case Flow::ret:
      return false;
  }
  return true;
}

/// nop in all its lengths, and int3.
bool is_padding(const Encoding& encoding) {
  if (encoding.map == OpcodeMap::two_byte) {
    return encoding.opcode == 0x1F;
  }
  const bool is_nop = encoding.opcode == 0x90 && (encoding.rex & 1U) == 0;  // else xchg r8,rax
  return encoding.map == OpcodeMap::one_byte && (is_nop || encoding.opcode == 0xCC);
}

}  // namespace

std::optional<SourceInstruction> read_instruction(std::span<const std::byte> bytes,
                                                  Address address) {
  const auto encoding = read_encoding(bytes);
  const auto instruction = encoding ? instruction_of(*encoding, address) : std::nullopt;
  if (!instruction) {
    return std::nullopt;
  }
  return SourceInstruction{bytes.first(encoding->length), *encoding, *instruction, 0, false};
}

void MovedInstruction::append(std::initializer_list<unsigned> values) {
  for (const unsigned value : values) {
    bytes[size++] = static_cast<std::byte>(value);
  }
}

void MovedInstruction::append(std::span<const std::byte> values) {
  for (const std::byte value : values) {
    bytes[size++] = value;
  }
}

void MovedInstruction::append_number(std::uint64_t value, unsigned number_size) {
  for (unsigned i = 0; i < number_size; ++i) {
    bytes[size++] = static_cast<std::byte>((value >> (8U * i)) & 0xFFU);
  }
}

void MovedInstruction::append_displacement(std::uint8_t displacement_size, Address to) {
  field = size;
  field_size = displacement_size;
  target = to;
  append_number(0, displacement_size);
}

bool reaches(Address end, Address target, unsigned size) {
  const std::int64_t displacement = distance(end, target);
  return size == 1 ? holds<std::int8_t>(displacement) : holds<std::int32_t>(displacement);
}

bool place(MovedInstruction& moved, Address at) {
  if (moved.field_size == 0) {
    return true;
  }
  const Address end = at + moved.size;
  if (!reaches(end, moved.target, moved.field_size)) {
    return false;
  }
  const std::uint64_t displacement = moved.target.value() - end.value();
  for (unsigned i = 0; i < moved.field_size; ++i) {
    moved.bytes[moved.field + i] = static_cast<std::byte>((displacement >> (8U * i)) & 0xFFU);
  }
  return true;
}

std::optional<CopyRefusal> refuse_move(const SourceInstruction& source) {
  if (source.encoding.segment == Segment::gs || names_gs(source.encoding)) {
    return CopyRefusal::uses_counter_segment;
  }
  if (is_unmovable(source.encoding, source.instruction.flow)) {
    return CopyRefusal::unmovable;
  }
  return std::nullopt;
}

std::size_t padding_length(std::span<const std::byte> code) {
  const auto encoding = read_encoding(code);
  return encoding && is_padding(*encoding) ? encoding->length : 0;
}

std::optional<MovedInstruction> move_unchanged(const SourceInstruction& source) {
  const Encoding& encoding = source.encoding;
  MovedInstruction moved;
  if (!encoding.is_rip_relative()) {
    moved.append(source.code);
    return moved;
  }
  if (encoding.address_size_prefix) {
    return std::nullopt;  // unused in practice
  }
  moved.append(source.code.first(encoding.displacement_offset));
  moved.append_displacement(
      4, source.instruction.next() + static_cast<std::uint64_t>(encoding.displacement));
  moved.append(source.code.subspan(encoding.displacement_offset + 4U));
  return moved;
}

std::optional<MovedCode> move_plain(const SourceInstruction& source,
                                    std::span<const std::byte> /*function*/, Address /*begin*/) {
  const auto moved = move_unchanged(source);
  return moved ? std::optional(MovedCode{*moved}) : std::nullopt;
}

std::array<MovedInstruction, 2> push_address(Address value) {
  std::array<MovedInstruction, 2> pushes;
  const auto low = static_cast<std::uint32_t>(value.value());
  pushes[0].append({0x68});  // push imm32
  pushes[0].append_number(low, 4);
  const auto pushed = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(low)});
  if (pushed != value.value()) {
    pushes[1].append({0xC7, 0x44, 0x24, 0x04});  // movl imm32, 4(%rsp)
    pushes[1].append_number(value.value() >> 32U, 4);
  }
  return pushes;
}

std::array<MovedInstruction, 3> call_from(Address return_address) {
  std::array<MovedInstruction, 3> call;
  call[0].append({0xE8, 0x08, 0, 0, 0});  // call over the address
  call[0].append_number(return_address.value(), 8);
  call[1].append({0x48, 0x8D, 0x64, 0x24, 0x08});        // lea 8(%rsp), %rsp
  call[2].append({0xFF, 0x35, 0xED, 0xFF, 0xFF, 0xFF});  // push -19(%rip): the address
  return call;
}

}  // namespace sp::arch::x86_64
