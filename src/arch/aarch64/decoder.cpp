#include "arch/aarch64/decoder.h"

#include <cstdint>

#include "arch/aarch64/encoding.h"

namespace sp::arch::aarch64 {
namespace {

using core::Flow;

/// Arm ARM, C4.1: op0, bits 28:25. 0000 holds `udf` and SME, 0001 and 0011 nothing at all.
bool is_allocated(std::uint32_t word) {
  const std::uint32_t op0 = field(word, 25, 4);
  return op0 != 0x1U && op0 != 0x3U && (op0 != 0x0U || (word >> 31U) == 1U || is_udf(word));
}

Flow flow_of_register_branch(std::uint32_t word) {
  constexpr std::uint32_t kEret = 4;
  constexpr std::uint32_t kDrps = 5;
  switch (register_branch(word)) {
    case RegisterBranch::br:
      return Flow::indirect_jump;
    case RegisterBranch::blr:
      return Flow::indirect_call;
    case RegisterBranch::ret:
      return Flow::ret;
    case RegisterBranch::other:
      break;
  }
  const std::uint32_t operation = field(word, 21, 4);
  return operation == kEret || operation == kDrps ? Flow::ret : Flow::next;
}

struct FlowAndOffset {
  Flow flow = Flow::next;
  std::optional<std::uint64_t> offset;  // of direct ones, from the instruction itself
};

/// "Branches, exception generating and system instructions", C4.1.65.
FlowAndOffset flow_of(std::uint32_t word) {
  if (is_b(word)) {
    return {Flow::jump, offset_26(word)};
  }
  if (is_bl(word)) {
    return {Flow::call, offset_26(word)};
  }
  if (is_b_cond(word)) {
    // "always" (1110) and its reserved twin (1111) are taken unconditionally.
    const bool always = !matches(word, 0x10U, 0x10U) && matches(word, 0xEU, 0xEU);
    return {always ? Flow::jump : Flow::branch, offset_19(word)};
  }
  if (is_cbz(word)) {
    return {Flow::branch, offset_19(word)};
  }
  if (is_tbz(word)) {
    return {Flow::branch, offset_14(word)};
  }
  if (is_register_branch(word)) {
    return {flow_of_register_branch(word), std::nullopt};
  }
  if (is_exception(word)) {
    const bool is_svc = matches(word, 0x00E0001FU, 0x00000001U);
    return {is_svc ? Flow::syscall : Flow::stop, std::nullopt};
  }
  return {is_udf(word) ? Flow::stop : Flow::next, std::nullopt};
}

}  // namespace

std::optional<core::Instruction> decode(std::span<const std::byte> bytes, core::Address address) {
  const std::optional<std::uint32_t> word = read_word(bytes);
  if (!word || !is_allocated(*word)) {
    return std::nullopt;
  }
  const FlowAndOffset found = flow_of(*word);
  core::Instruction instruction;
  instruction.address = address;
  instruction.length = 4;
  instruction.flow = found.flow;
  if (found.offset) {
    instruction.target = address + *found.offset;
  }
  return instruction;
}

std::uint64_t encoding_kind(std::span<const std::byte> bytes) {
  const std::optional<std::uint32_t> word = read_word(bytes);
  if (!word) {
    return 0;
  }
  std::uint32_t kept = 0xFFE0FC00U;  // all but the register fields
  if (is_b(*word) || is_bl(*word)) {
    kept = 0xFC000000U;
  } else if (is_b_cond(*word)) {
    kept = 0xFF00001FU;
  } else if (is_cbz(*word) || is_tbz(*word)) {
    kept = 0x7F000000U;
  }
  return *word & kept;
}

}  // namespace sp::arch::aarch64
