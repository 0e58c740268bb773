#include "arch/aarch64/copy_jumps.h"

#include <algorithm>

#include "arch/aarch64/encoding.h"

namespace sp::arch::aarch64 {

using core::Address;
using core::Flow;

bool can_emulate_call(const SourceInstruction& call) {
  const bool signs_with_register = authenticates(call.word) && field(call.word, 24, 1) == 1;
  const bool uses_link = field(call.word, 5, 5) == kLinkRegister ||
                         (signs_with_register && field(call.word, 0, 5) == kLinkRegister);
  const Flow flow = call.instruction.flow;
  return flow == Flow::call || (flow == Flow::indirect_call && !uses_link);
}

std::optional<std::vector<InsertedStep>> emulate_call(const SourceInstruction& call) {
  if (!can_emulate_call(call)) {
    return std::nullopt;
  }
  using Label = InsertedStep::Label;
  constexpr std::uint32_t kLinks = 1U << 21U;  // blr and br, blraa and braa differ by it
  // Until the jump nobody needs x30: the call sets it.
  std::vector<MovedInstruction> code = move_number(kLinkRegister, call.instruction.next().value());
  code.push_back(call.instruction.target ? far_jump_to(*call.instruction.target)
                                         : MovedInstruction(call.word & ~kLinks));
  std::vector<InsertedStep> steps;
  steps.reserve(code.size());
  for (const MovedInstruction& one : code) {
    steps.push_back({one, {}, false, Label::none, Label::none, Label::none});
  }
  return steps;
}

MovedInstruction exit_filler() { return MovedInstruction(0xD503201FU); }  // nop

core::CopyExit inserted_exit(Address at, Address original, std::int64_t distance) {
  MovedInstruction jump = jump_to(at + kWord + static_cast<std::uint64_t>(distance));
  core::CopyExit exit{at, original, kLongJump, 0, {}};
  if (place(jump, at)) {
    std::copy_n(jump.bytes.begin(), jump.size, exit.bytes.begin());
    exit.size = jump.size;
  }
  return exit;
}

}  // namespace sp::arch::aarch64
