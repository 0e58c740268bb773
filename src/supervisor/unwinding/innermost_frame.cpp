#include "supervisor/unwinding/innermost_frame.h"

#include <cstddef>

namespace sp::supervisor {
namespace {

/// Whether a jump leaves the function at pc; `jump_target` counts from pc. Functions that are split
/// in two jump out of one part into the other, but not behind their pops.
bool leaves_function(const CurrentFrame& frame, std::int64_t jump_target) {
  if (frame.region().module->frames == nullptr) {
    return false;
  }
  const std::uint64_t pc = frame.elf_pc();
  const auto fde = frame.region().module->frames->find(pc);
  const std::uint64_t target = pc + static_cast<std::uint64_t>(jump_target);
  return fde && (target < fde->begin || target >= fde->end);
}

/// Whether the word at sp is a return address whose call leads to the code just in front of pc: a
/// leaf function without a frame. Unwinding by the frame pointer would skip its caller.
bool was_called_from_top_of_stack(CurrentFrame& frame) {
  const auto word = frame.memory().word(frame.sp());
  const core::Address return_address{word.value_or(0)};
  const CodeRegion* caller = word ? frame.space().find(return_address) : nullptr;
  if (caller == nullptr) {
    return false;
  }
  const auto called = NativeFrames::called(caller->code_before(return_address));
  constexpr std::uint64_t kLongestLeaf = 4096;
  return called && frame.pc() >= offset_by(return_address, *called) &&
         frame.pc() - offset_by(return_address, *called) < kLongestLeaf;
}

}  // namespace

UnwindStep unwind_by_signal_frame(CurrentFrame& frame) {
  const CodeRegion& region = frame.region();
  if (!NativeFrames::is_signal_return(region.code_before(frame.pc()),
                                      region.code_from(frame.pc()))) {
    return UnwindStep::no_answer;
  }
  FrameRegisters registers;
  for (unsigned i = 0; i <= NativeFrames::kPc; ++i) {
    const auto slot = offset_by(frame.sp(), NativeFrames::signal_slot(i));
    const auto value = frame.memory().word(slot);
    if (!value) {
      return frame.end_at_missing(slot);
    }
    if (i == NativeFrames::kPc) {
      registers.pc = core::Address{*value};
    } else {
      registers.set(i, *value);
    }
  }
  const UnwindStep moved = frame.move_to(registers, false);
  return moved == UnwindStep::no_answer ? frame.end(core::StackEnd::bad_memory) : moved;
}

UnwindStep unwind_by_epilogue(CurrentFrame& frame) {
  const CodeRegion& region = frame.region();
  const auto exit =
      NativeFrames::find_epilogue(region.code_before(frame.pc()), region.code_from(frame.pc()));
  if (!exit ||
      (exit->by_jump && exit->jump_target && !leaves_function(frame, *exit->jump_target))) {
    return UnwindStep::no_answer;
  }
  FrameRegisters registers = frame.cursor().registers();
  if (!registers.known.test(exit->base)) {
    return UnwindStep::no_answer;
  }
  const core::Address base{registers.values[exit->base]};
  for (std::size_t i = 0; i < exit->restored_count; ++i) {
    const auto value = frame.memory().word(offset_by(base, exit->restored[i].slot));
    if (!value) {
      return UnwindStep::no_answer;
    }
    registers.set(exit->restored[i].dwarf_register, *value);
  }
  core::Address sp = offset_by(base, exit->return_slot);
  if constexpr (NativeFrames::kLinkRegister) {
    if (!registers.known.test(*NativeFrames::kLinkRegister)) {
      return UnwindStep::no_answer;
    }
    registers.pc = core::Address{registers.values[*NativeFrames::kLinkRegister]};
  } else {
    const auto pc = frame.memory().word(sp);
    if (!pc) {
      return UnwindStep::no_answer;
    }
    registers.pc = core::Address{*pc};
    sp = offset_by(sp, exit->released) + kStackWord;
  }
  registers.set(NativeFrames::kStackPointer, sp.value());
  return frame.move_to(registers, true);
}

UnwindStep unwind_without_frame(CurrentFrame& frame) {
  const auto before = frame.region().code_before(frame.pc());
  const auto from = frame.region().code_from(frame.pc());
  if constexpr (NativeFrames::kLinkRegister) {
    FrameRegisters registers = frame.cursor().registers();
    const auto released = NativeFrames::linked_return(before, from);
    if (released && registers.known.test(*NativeFrames::kLinkRegister)) {
      registers.pc = core::Address{registers.values[*NativeFrames::kLinkRegister]};
      registers.set(NativeFrames::kStackPointer, offset_by(frame.sp(), *released).value());
      return frame.move_to(registers, true);
    }
  }
  auto slot = NativeFrames::frameless_return_slot(before, from);
  if (!slot && !NativeFrames::kLinkRegister && was_called_from_top_of_stack(frame)) {
    slot = 0;
  }
  if (!slot) {
    return UnwindStep::no_answer;
  }
  const auto at = offset_by(frame.sp(), *slot);
  const auto pc = frame.memory().word(at);
  if (!pc) {
    return frame.end_at_missing(at);
  }
  FrameRegisters registers = frame.cursor().registers();
  registers.pc = core::Address{*pc};
  registers.set(NativeFrames::kStackPointer, at.value() + kStackWord);
  return frame.move_to(registers, true);
}

}  // namespace sp::supervisor
