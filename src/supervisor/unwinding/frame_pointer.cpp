#include "supervisor/unwinding/frame_pointer.h"

namespace sp::supervisor {
namespace {

/// In the first instructions of a program or of a loader, whose CFI does not cover them.
bool is_at_entry(const CurrentFrame& frame) {
  constexpr std::uint64_t kFirstInstructions = 64;  // bytes
  const CodeModule* module = frame.region().module;
  const core::ElfImage* image = module != nullptr ? module->image.get() : nullptr;
  return image != nullptr && frame.elf_pc() - image->entry() < kFirstInstructions;
}

}  // namespace

UnwindStep unwind_by_frame_pointer(CurrentFrame& frame) {
  const FrameRegisters callee = frame.cursor().registers();
  if (!callee.known.test(NativeFrames::kFramePointer)) {
    return frame.end(core::StackEnd::no_unwind_info);
  }
  const core::Address pair{callee.values[NativeFrames::kFramePointer]};
  if (pair == core::Address{} && (frame.is_return_address() || is_at_entry(frame))) {
    return frame.end(core::StackEnd::root);  // how the ABIs mark the outermost frame
  }
  if (pair < frame.sp() || pair.value() % kStackWord != 0) {
    return frame.end(core::StackEnd::no_unwind_info);
  }
  const auto next_frame = frame.memory().word(pair);
  const auto pc = frame.memory().word(pair + kStackWord);
  if (!next_frame || !pc) {
    return frame.end_at_missing(next_frame ? pair + kStackWord : pair);
  }
  if (*pc == 0) {
    return frame.end(core::StackEnd::root);
  }
  FrameRegisters registers;
  registers.pc = core::Address{*pc};
  registers.set(NativeFrames::kStackPointer, pair.value() + 2 * kStackWord);
  registers.set(NativeFrames::kFramePointer, *next_frame);
  if (frame.move_to(registers, true) == UnwindStep::no_answer) {
    return frame.end(core::StackEnd::no_unwind_info);
  }
  if (!NativeFrames::kPairEndsFrame) {
    frame.set_sp_is_lower_bound();
  }
  return UnwindStep::moved;
}

}  // namespace sp::supervisor
