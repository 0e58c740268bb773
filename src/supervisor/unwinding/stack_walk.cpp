#include "supervisor/unwinding/stack_walk.h"

#include <array>
#include <span>

#include "supervisor/unwinding/cfi_unwind.h"
#include "supervisor/unwinding/frame_pointer.h"
#include "supervisor/unwinding/innermost_frame.h"

namespace sp::supervisor {
namespace {

using Strategy = UnwindStep (*)(CurrentFrame&);

constexpr std::array<Strategy, 5> kFromInstruction = {unwind_by_signal_frame, unwind_by_epilogue,
                                                      unwind_by_cfi, unwind_without_frame,
                                                      unwind_by_frame_pointer};
constexpr std::array<Strategy, 2> kFromReturnAddress = {unwind_by_cfi, unwind_by_frame_pointer};

}  // namespace

core::Stack StackWalk::run(std::size_t max_frames, std::vector<WalkedFrame>* walked) {
  core::Stack stack;
  constexpr std::size_t kUsualDepth = 32;
  stack.frames.reserve(kUsualDepth);
  while (add_frame(stack)) {
    if (walked != nullptr) {
      walked->push_back({frame_.pc(), frame_.sp(), frame_.is_return_address()});
    }
    if (stack.frames.size() >= max_frames) {
      (void)frame_.end(core::StackEnd::too_deep);
      break;
    }
    if (unwind() != UnwindStep::moved) {
      break;
    }
  }
  stack.end = frame_.end_reason();
  return stack;
}

/// False if nothing is known of the frame's code.
bool StackWalk::add_frame(core::Stack& stack) {
  if (!frame_.find_region()) {
    stack.frames.push_back(
        {{modules_.unknown_module()->id, frame_.pc().value()}, frame_.is_return_address()});
    (void)frame_.end(core::StackEnd::no_unwind_info);
    return false;
  }
  stack.frames.push_back(
      {{frame_.region().module->id, frame_.elf_pc()}, frame_.is_return_address()});
  return true;
}

UnwindStep StackWalk::unwind() {
  const auto strategies = frame_.is_return_address() ? std::span<const Strategy>(kFromReturnAddress)
                                                     : std::span<const Strategy>(kFromInstruction);
  for (const Strategy strategy : strategies) {
    if (const UnwindStep step = strategy(frame_); step != UnwindStep::no_answer) {
      return step;
    }
  }
  return frame_.end(core::StackEnd::no_unwind_info);
}

}  // namespace sp::supervisor
