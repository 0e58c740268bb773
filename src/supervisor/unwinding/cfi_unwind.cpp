#include "supervisor/unwinding/cfi_unwind.h"

#include <cstddef>
#include <optional>

namespace sp::supervisor {
namespace {

CfiOutcome step_at(CurrentFrame& frame, std::size_t from_pc) {
  return frame.cursor().step(*frame.region().module, frame.elf_pc() + from_pc,
                             frame.is_return_address());
}

CfiOutcome step(CurrentFrame& frame) {
  const std::size_t idle = frame.is_return_address()
                               ? 0
                               : NativeFrames::idle_length(frame.region().code_from(frame.pc()));
  const auto outcome = step_at(frame, idle);
  return idle != 0 && outcome == CfiOutcome::no_cfi ? step_at(frame, 0) : outcome;
}

/// Whether a direct call in front of the address leads to the beginning of the function at pc.
bool is_behind_call_of_this(CurrentFrame& frame, core::Address return_address) {
  const CodeRegion& region = frame.region();
  const auto function =
      region.module->frames != nullptr ? region.module->frames->find(frame.elf_pc()) : std::nullopt;
  const CodeRegion* caller = function ? frame.space().find(return_address) : nullptr;
  if (caller == nullptr) {
    return false;
  }
  const auto called = NativeFrames::called(caller->code_before(return_address));
  return called && region.elf_address(offset_by(return_address, *called)) == function->begin;
}

/// Starts again at this frame, whose sp was a lower bound, with the right sp; false if that cannot
/// be told. A frame saves its caller's frame pointer where its own points to. A frame without a
/// frame pointer has a return address behind a call of its function.
bool find_sp(CurrentFrame& frame) {
  const core::Address lowest = frame.sp();
  if (const auto saved = frame.cursor().saved_at(NativeFrames::kFramePointer)) {
    const std::uint64_t base = frame.registers().values[NativeFrames::kFramePointer];
    frame.restart_with_sp(lowest + (base - saved->value()));
    return frame.sp() >= lowest;
  }
  constexpr std::uint64_t kAlignment = 16;
  constexpr std::uint64_t kMost = 1024;
  for (std::uint64_t more = 0; more < kMost; more += kAlignment) {
    frame.restart_with_sp(lowest + more);
    if (step_at(frame, 0) == CfiOutcome::stepped &&
        is_behind_call_of_this(frame, frame.strip(frame.cursor().pc()))) {
      frame.restart_with_sp(lowest + more);
      return true;
    }
  }
  return false;
}

/// CFI says that the frame has not touched the stack yet, but the function's prologue has.
UnwindStep unwind_by_prologue(CurrentFrame& frame) {
  if constexpr (NativeFrames::kLinkRegister) {
    FrameCursor& cursor = frame.cursor();
    if (frame.is_return_address() || cursor.was_signal_frame() || cursor.sp() != frame.sp() ||
        cursor.saved_at(*NativeFrames::kLinkRegister)) {
      return UnwindStep::no_answer;
    }
    const std::uint64_t pc = frame.elf_pc();
    const auto function = frame.region().module->frames->find(pc);
    const auto before = frame.region().code_before(frame.pc());
    if (!function || pc - function->begin > before.size()) {
      return UnwindStep::no_answer;
    }
    const auto entry = NativeFrames::read_prologue(before.last(pc - function->begin));
    if (entry.lowered <= 0) {
      return UnwindStep::no_answer;
    }
    FrameRegisters registers = cursor.registers();
    if (entry.frame_pointer_slot) {
      const auto saved = frame.memory().word(offset_by(frame.sp(), *entry.frame_pointer_slot));
      if (!saved) {
        return UnwindStep::no_answer;
      }
      registers.set(NativeFrames::kFramePointer, *saved);
    }
    registers.set(NativeFrames::kStackPointer, offset_by(frame.sp(), entry.lowered).value());
    return frame.move_to(registers, true);
  }
  return UnwindStep::no_answer;
}

/// The CFI of the loader's _dl_runtime_resolve says that its caller's sp is below the slot to which
/// a PLT pushed the return address; glibc, sysdeps/aarch64/dl-trampoline.S.
UnwindStep unwind_plt_resolver(CurrentFrame& frame) {
  if constexpr (NativeFrames::kLinkRegister) {
    FrameCursor& cursor = frame.cursor();
    const core::Address pushed = cursor.sp() + kStackWord;
    if (frame.memory().word(pushed) != cursor.pc().value() ||
        cursor.saved_at(*NativeFrames::kLinkRegister) != pushed) {
      return UnwindStep::no_answer;
    }
    FrameRegisters registers = cursor.registers();
    registers.set(NativeFrames::kStackPointer, (pushed + kStackWord).value());
    const UnwindStep moved = frame.move_to(registers, !cursor.was_signal_frame());
    return moved == UnwindStep::no_answer ? frame.end(core::StackEnd::bad_memory) : moved;
  }
  return UnwindStep::no_answer;
}

}  // namespace

UnwindStep unwind_by_cfi(CurrentFrame& frame) {
  auto outcome = step(frame);
  if (frame.sp_is_lower_bound() &&
      (outcome == CfiOutcome::stepped || outcome == CfiOutcome::root)) {
    if (!find_sp(frame)) {
      return frame.end(core::StackEnd::no_unwind_info);
    }
    outcome = step_at(frame, 0);
  }
  switch (outcome) {
    case CfiOutcome::stepped:
      break;
    case CfiOutcome::root:
      return frame.end(core::StackEnd::root);
    case CfiOutcome::no_cfi:
      return UnwindStep::no_answer;
    case CfiOutcome::unusable_cfi:
      return frame.end(core::StackEnd::no_unwind_info);
    case CfiOutcome::memory_missing:
      return frame.end_at_missing(frame.cursor().missing());
  }
  if (frame.strip(frame.cursor().pc()) == core::Address{}) {
    return frame.end(core::StackEnd::root);
  }
  for (const auto correct : {unwind_by_prologue, unwind_plt_resolver}) {
    if (const UnwindStep moved = correct(frame); moved != UnwindStep::no_answer) {
      return moved;
    }
  }
  return frame.move_to_cursor();
}

}  // namespace sp::supervisor
