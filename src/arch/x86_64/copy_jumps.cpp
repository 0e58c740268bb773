#include "arch/x86_64/copy_jumps.h"

#include "arch/x86_64/counter_code.h"
#include "arch/x86_64/moved_operand.h"

namespace sp::arch::x86_64 {

using core::Address;
using core::Flow;

bool can_emulate_call(const SourceInstruction& call) {
  const Flow flow = call.instruction.flow;
  return flow == Flow::call ||
         (flow == Flow::indirect_call && jump_through_operand(call).has_value());
}

std::optional<std::vector<InsertedStep>> emulate_call(const SourceInstruction& call) {
  using Label = InsertedStep::Label;
  constexpr core::CopyUndo kPushed{.sp_shift = 8};
  std::vector<InsertedStep> steps;
  const auto add = [&steps](const MovedInstruction& code, const core::CopyUndo& undo) {
    steps.push_back({code, undo, false, Label::none, Label::none, Label::none});
  };
  const auto pushes = call_from(call.instruction.next());
  add(pushes[0], {});
  add(pushes[1], kPushed);
  add(pushes[2], {});
  auto jump = call.instruction.flow == Flow::call ? move_short_jump(call, *call.instruction.target)
                                                  : jump_through_operand(call);
  if (!jump) {
    return std::nullopt;
  }
  make_far(*jump);
  add(*jump, kPushed);
  return steps;
}

std::uint8_t exit_room(const SourceInstruction* first) {
  if (first == nullptr) {
    return kLongJump;  // increments and loads of a counter have nine bytes, a spill begins with 5
  }
  const core::Instruction& instruction = first->instruction;
  return instruction.length >= kLongJump && instruction.flow == Flow::next ? instruction.length : 0;
}

MovedInstruction exit_filler() { return long_nop(); }

core::CopyExit inserted_exit(Address at, Address original, std::int64_t distance) {
  constexpr std::uint64_t kLine = 64;
  if (at.value() % kLine == kLine - 1) {  // the next instruction serves as well
    at = at + kShortJump;
    distance -= kShortJump;
  }
  return {
      at, original, kShortJump, kShortJump, {std::byte{0xEB}, static_cast<std::byte>(distance)}};
}

}  // namespace sp::arch::x86_64
