// Frames that are left by call frame information, and where what it says is not the whole truth.
#include "supervisor/unwinding/unwinder.h"

namespace sp::supervisor {

StackWalk::Step StackWalk::leave_by_description() {
  auto outcome = step_by_description();
  if (sp_is_lowest_ &&
      (outcome == FrameCursor::Outcome::stepped || outcome == FrameCursor::Outcome::root)) {
    if (!find_sp()) {
      return end(core::StackEnd::no_unwind_info);
    }
    outcome = step_at(0);
  }
  switch (outcome) {
    case FrameCursor::Outcome::stepped:
      break;
    case FrameCursor::Outcome::root:
      return end(core::StackEnd::root);
    case FrameCursor::Outcome::no_description:
      return Step::no_answer;
    case FrameCursor::Outcome::not_followed:
      return end(core::StackEnd::no_unwind_info);
    case FrameCursor::Outcome::memory_missing:
      return end_at_missing(cursor_.missing());
  }
  Caller caller{core::Address{cursor_.pc().value() & pointer_mask_}, cursor_.sp(),
                !cursor_.was_signal_frame()};
  if (caller.pc == core::Address{}) {
    return end(core::StackEnd::root);
  }
  if (const Step step = leave_by_entry(); step != Step::no_answer) {
    return step;
  }
  if (const Step step = leave_by_resolver(); step != Step::no_answer) {
    return step;
  }
  // A handler may run on a stack of its own, which can be anywhere.
  if ((caller.is_return_address && !is_above(caller.sp)) || !believe(caller)) {
    return end(core::StackEnd::bad_memory);
  }
  pc_ = caller.pc;
  sp_ = caller.sp;
  is_return_address_ = caller.is_return_address;
  return Step::moved;
}

FrameCursor::Outcome StackWalk::step_by_description() {
  const std::size_t idle =
      is_return_address_ ? 0 : NativeFrames::idle_length(region_.code_from(pc_));
  const auto outcome = step_at(idle);
  return idle != 0 && outcome == FrameCursor::Outcome::no_description ? step_at(0) : outcome;
}

FrameCursor::Outcome StackWalk::step_at(std::size_t from_pc) {
  return cursor_.step(*region_.module, region_.elf_address(pc_) + from_pc, is_return_address_);
}

/// Of a frame that was left as one that has not touched the stack yet, though its prologue has.
StackWalk::Step StackWalk::leave_by_entry() {
  if constexpr (NativeFrames::kLinkRegister) {
    if (is_return_address_ || cursor_.was_signal_frame() || cursor_.sp() != sp_ ||
        cursor_.saved_at(*NativeFrames::kLinkRegister)) {
      return Step::no_answer;
    }
    const std::uint64_t pc = region_.elf_address(pc_);
    const auto function = region_.module->frames->find(pc);
    const auto before = region_.code_before(pc_);
    if (!function || pc - function->begin > before.size()) {
      return Step::no_answer;
    }
    const auto entry = NativeFrames::read_prologue(before.last(pc - function->begin));
    if (entry.lowered <= 0) {
      return Step::no_answer;
    }
    FrameRegisters registers = cursor_.registers();
    if (entry.frame_pointer_slot) {
      const auto frame = memory_.word(offset_by(sp_.value(), *entry.frame_pointer_slot));
      if (!frame) {
        return Step::no_answer;
      }
      registers.set(NativeFrames::kFramePointer, *frame);
    }
    registers.set(NativeFrames::kStackPointer, offset_by(sp_.value(), entry.lowered).value());
    return move_to(registers, true);
  }
  return Step::no_answer;
}

/// Of the loader's _dl_runtime_resolve, which says that its caller's sp is below where the return
/// address was pushed by a PLT; glibc, sysdeps/aarch64/dl-trampoline.S.
StackWalk::Step StackWalk::leave_by_resolver() {
  if constexpr (NativeFrames::kLinkRegister) {
    const core::Address pushed = cursor_.sp() + kWord;
    if (memory_.word(pushed) != cursor_.pc().value() ||
        cursor_.saved_at(*NativeFrames::kLinkRegister) != pushed) {
      return Step::no_answer;
    }
    FrameRegisters registers = cursor_.registers();
    registers.set(NativeFrames::kStackPointer, (pushed + kWord).value());
    const Step step = move_to(registers, !cursor_.was_signal_frame());
    return step == Step::no_answer ? end(core::StackEnd::bad_memory) : step;
  }
  return Step::no_answer;
}

/// Starts again at this frame, which was left with an sp that may be too low, with the right one;
/// false where it cannot be told. A frame saves its caller's frame pointer where its own points to.
/// One that has no frame pointer has a return address behind a call of its function.
bool StackWalk::find_sp() {
  const core::Address lowest = sp_;
  if (const auto saved = cursor_.saved_at(NativeFrames::kFramePointer)) {
    const std::uint64_t frame = registers_.values[NativeFrames::kFramePointer];
    start_with_sp(lowest + (frame - saved->value()));
    return sp_ >= lowest;
  }
  constexpr std::uint64_t kAlignment = 16;
  constexpr std::uint64_t kMost = 1024;
  for (std::uint64_t more = 0; more < kMost; more += kAlignment) {
    start_with_sp(lowest + more);
    if (step_at(0) == FrameCursor::Outcome::stepped &&
        is_behind_call_of_this(core::Address{cursor_.pc().value() & pointer_mask_})) {
      start_with_sp(lowest + more);
      return true;
    }
  }
  return false;
}

void StackWalk::start_with_sp(core::Address sp) {
  registers_.set(NativeFrames::kStackPointer, sp.value());
  start(registers_);
}

/// A direct call in front of it leads to where the function that pc is in begins.
bool StackWalk::is_behind_call_of_this(core::Address return_address) {
  const auto function = region_.module->frames != nullptr
                            ? region_.module->frames->find(region_.elf_address(pc_))
                            : std::nullopt;
  const CodeRegion* caller = function ? space_.find(return_address) : nullptr;
  if (caller == nullptr) {
    return false;
  }
  const auto called = NativeFrames::called(caller->code_before(return_address));
  return called &&
         region_.elf_address(offset_by(return_address.value(), *called)) == function->begin;
}

}  // namespace sp::supervisor
