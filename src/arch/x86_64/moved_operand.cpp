#include "arch/x86_64/moved_operand.h"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "arch/x86_64/operands.h"

namespace sp::arch::x86_64 {
namespace {

bool is_on_stack(const Encoding& operand) { return operand.has_sib && operand.base() == kRsp; }

/// Appends ModRM with `extension`, SIB and displacement. False if there is no such instruction.
bool append_operand(const SourceInstruction& source, unsigned extension, std::uint8_t below,
                    MovedInstruction& moved) {
  const Encoding& operand = source.encoding;
  unsigned modrm = (operand.modrm & 0xC7U) | (extension << 3U);
  std::uint8_t displacement_size = operand.displacement_size;
  const std::int64_t displacement = operand.displacement + (is_on_stack(operand) ? below : 0);
  if (is_on_stack(operand)) {
    modrm = (modrm & 0x3FU) | (2U << 6U);  // a displacement of 32 bits
    displacement_size = 4;
  }
  const unsigned rest = operand.has_sib ? 2 : 1;
  if (moved.size + rest + displacement_size > kLongestInstruction ||
      displacement < std::numeric_limits<std::int32_t>::min() ||
      displacement > std::numeric_limits<std::int32_t>::max()) {
    return false;
  }
  moved.append({modrm});
  if (operand.has_sib) {
    moved.append({operand.sib});
  }
  if (!operand.is_rip_relative()) {
    moved.append_number(static_cast<std::uint64_t>(displacement), displacement_size);
    return true;
  }
  if (operand.address_size_prefix) {
    return false;  // relative to eip
  }
  moved.append_displacement(
      4, source.instruction.next() + static_cast<std::uint64_t>(operand.displacement));
  return true;
}

}  // namespace

std::optional<MovedInstruction> jump_through_operand(const SourceInstruction& call) {
  const Encoding& operand = call.encoding;
  const bool is_rsp = operand.names_register() && operand.rm() == kRsp;
  // The push may have overwritten an operand below rsp. (Another register may point there too, but
  // no program keeps a function pointer in memory that it does not own.)
  if (is_rsp || (is_on_stack(operand) && (operand.displacement < 0 || operand.index() != kRsp))) {
    return std::nullopt;
  }
  constexpr unsigned kJump = 4;  // FF /4
  constexpr std::uint8_t kPushed = 8;
  MovedInstruction moved;
  moved.append(call.prefixes());
  moved.append({0xFF});
  return append_operand(call, kJump, kPushed, moved) ? std::optional(moved) : std::nullopt;
}

std::optional<MovedInstruction> load_destination(const SourceInstruction& transfer,
                                                 std::uint8_t below) {
  const Encoding& operand = transfer.encoding;
  MovedInstruction load;
  if (transfer.instruction.flow == core::Flow::ret) {
    load.append({0x48, 0x8B, 0x84, 0x24});  // mov below(%rsp), %rax
    load.append_number(below, 4);
    return load;
  }
  if (operand.operand_size_prefix || (operand.names_register() && operand.rm() == kRsp)) {
    return std::nullopt;
  }
  if (operand.segment == Segment::fs) {
    load.append({0x64});
  }
  if (operand.address_size_prefix) {
    load.append({0x67});
  }
  load.append({0x48U | (operand.rex & 3U), 0x8B});
  return append_operand(transfer, kRax, below, load) ? std::optional(load) : std::nullopt;
}

}  // namespace sp::arch::x86_64
