#include "supervisor/unwinding/unwinder.h"

#include <array>
#include <optional>
#include <span>

namespace sp::supervisor {
namespace {

FrameRegisters registers_of(const core::DwarfRegisters& stopped) {
  FrameRegisters out;
  for (unsigned i = 0; stopped.complete && i < out.values.size(); ++i) {
    out.set(i, stopped.values[i]);
  }
  out.set(NativeFrames::kStackPointer, stopped.sp.value());
  out.pc = stopped.pc;
  return out;
}

}  // namespace

StackWalk::StackWalk(FrameCursor& cursor, AddressSpace& space, ModuleTable& modules,
                     const core::RawStack& raw)
    : cursor_(cursor),
      space_(space),
      modules_(modules),
      memory_(raw),
      pointer_mask_(~raw.registers.code_pointer_mask) {
  start(registers_of(raw.registers));
}

void StackWalk::start(const FrameRegisters& registers) {
  cursor_.start(registers, memory_);
  pc_ = core::Address{registers.pc.value() & pointer_mask_};
  sp_ = registers.sp();
  sp_is_lowest_ = false;
}

core::Stack StackWalk::run(std::size_t max_frames) {
  core::Stack stack;
  constexpr std::size_t kUsualDepth = 32;
  stack.frames.reserve(kUsualDepth);
  while (enter(stack)) {
    if (stack.frames.size() >= max_frames) {
      end_ = core::StackEnd::too_deep;
      break;
    }
    if (leave() != Step::moved) {
      break;
    }
  }
  stack.end = end_;
  return stack;
}

/// Notes the frame at pc. False where nothing is known of its code; that can only be the innermost
/// one, because a caller is looked at before it is believed.
bool StackWalk::enter(core::Stack& stack) {
  const CodeRegion* region = space_.find(pc_);
  if (region == nullptr) {
    stack.frames.push_back({{modules_.unknown_module()->id, pc_.value()}, is_return_address_});
    end_ = core::StackEnd::no_unwind_info;
    return false;
  }
  region_ = *region;
  stack.frames.push_back({{region_.module->id, region_.elf_address(pc_)}, is_return_address_});
  return true;
}

StackWalk::Step StackWalk::leave() {
  using Way = Step (StackWalk::*)();
  // A signal's trampoline has a description too, but not on every CPU the right one.
  constexpr std::array<Way, 5> kFromInstruction = {
      &StackWalk::leave_by_signal_return, &StackWalk::leave_by_exit,
      &StackWalk::leave_by_description, &StackWalk::leave_by_stub,
      &StackWalk::leave_by_frame_pointer};
  constexpr std::array<Way, 2> kFromCall = {&StackWalk::leave_by_description,
                                            &StackWalk::leave_by_frame_pointer};
  const auto ways =
      is_return_address_ ? std::span<const Way>(kFromCall) : std::span<const Way>(kFromInstruction);
  for (const Way way : ways) {
    if (const Step step = (this->*way)(); step != Step::no_answer) {
      return step;
    }
  }
  return end(core::StackEnd::no_unwind_info);
}

StackWalk::Step StackWalk::leave_by_exit() {
  const auto exit = NativeFrames::find_epilogue(region_.code_before(pc_), region_.code_from(pc_));
  if (!exit || (exit->by_jump && exit->jump_target && !leaves_function(*exit->jump_target))) {
    return Step::no_answer;
  }
  FrameRegisters registers = cursor_.registers();
  if (!registers.known.test(exit->base)) {
    return Step::no_answer;
  }
  const std::uint64_t base = registers.values[exit->base];
  for (std::size_t i = 0; i < exit->restored_count; ++i) {
    const auto value = memory_.word(offset_by(base, exit->restored[i].slot));
    if (!value) {
      return Step::no_answer;
    }
    registers.set(exit->restored[i].dwarf_register, *value);
  }
  core::Address sp = offset_by(base, exit->return_slot);
  if constexpr (NativeFrames::kLinkRegister) {
    if (!registers.known.test(*NativeFrames::kLinkRegister)) {
      return Step::no_answer;
    }
    registers.pc = core::Address{registers.values[*NativeFrames::kLinkRegister]};
  } else {
    const auto pc = memory_.word(sp);
    if (!pc) {
      return Step::no_answer;
    }
    registers.pc = core::Address{*pc};
    sp = offset_by(sp.value(), exit->released) + kWord;
  }
  registers.set(NativeFrames::kStackPointer, sp.value());
  return move_to(registers, true);
}

/// `jump_target` counts from pc. Functions that are split in two jump out of one part into the
/// other, but not behind their pops.
bool StackWalk::leaves_function(std::int64_t jump_target) const {
  if (region_.module->frames == nullptr) {
    return false;
  }
  const std::uint64_t pc = region_.elf_address(pc_);
  const auto description = region_.module->frames->find(pc);
  const std::uint64_t target = pc + static_cast<std::uint64_t>(jump_target);
  return description && (target < description->begin || target >= description->end);
}

StackWalk::Step StackWalk::leave_by_signal_return() {
  if (!NativeFrames::is_signal_return(region_.code_before(pc_), region_.code_from(pc_))) {
    return Step::no_answer;
  }
  FrameRegisters registers;
  for (unsigned i = 0; i <= NativeFrames::kPc; ++i) {
    const auto slot = offset_by(sp_.value(), NativeFrames::signal_slot(i));
    const auto value = memory_.word(slot);
    if (!value) {
      return end_at_missing(slot);
    }
    if (i == NativeFrames::kPc) {
      registers.pc = core::Address{*value};
    } else {
      registers.set(i, *value);
    }
  }
  const Step step = move_to(registers, false);
  return step == Step::no_answer ? end(core::StackEnd::bad_memory) : step;
}

StackWalk::Step StackWalk::leave_by_stub() {
  if constexpr (NativeFrames::kLinkRegister) {
    FrameRegisters registers = cursor_.registers();
    const auto released =
        NativeFrames::linked_return(region_.code_before(pc_), region_.code_from(pc_));
    if (released && registers.known.test(*NativeFrames::kLinkRegister)) {
      registers.pc = core::Address{registers.values[*NativeFrames::kLinkRegister]};
      registers.set(NativeFrames::kStackPointer, offset_by(sp_.value(), *released).value());
      return move_to(registers, true);
    }
  }
  auto slot = NativeFrames::frameless_return_slot(region_.code_before(pc_), region_.code_from(pc_));
  if (!slot && !NativeFrames::kLinkRegister && was_called_from_top_of_stack()) {
    slot = 0;
  }
  if (!slot) {
    return Step::no_answer;
  }
  const auto at = offset_by(sp_.value(), *slot);
  const auto pc = memory_.word(at);
  if (!pc) {
    return end_at_missing(at);
  }
  FrameRegisters registers = cursor_.registers();
  registers.pc = core::Address{*pc};
  registers.set(NativeFrames::kStackPointer, at.value() + kWord);
  return move_to(registers, true);
}

/// The word at sp is a return address whose call leads to the code just in front of pc: a leaf
/// function without a frame, which the frame pointer would pass over.
bool StackWalk::was_called_from_top_of_stack() {
  const auto word = memory_.word(sp_);
  const CodeRegion* caller = word ? space_.find(core::Address{*word}) : nullptr;
  if (caller == nullptr) {
    return false;
  }
  const auto called = NativeFrames::called(caller->code_before(core::Address{*word}));
  constexpr std::uint64_t kLongestLeaf = 4096;
  return called && pc_ >= offset_by(*word, *called) &&
         pc_ - offset_by(*word, *called) < kLongestLeaf;
}

/// The frame pointer leads to the pair (caller's frame pointer, return address) on both CPUs. Of
/// the caller's other registers nothing is known then.
StackWalk::Step StackWalk::leave_by_frame_pointer() {
  const FrameRegisters callee = cursor_.registers();
  if (!callee.known.test(NativeFrames::kFramePointer)) {
    return end(core::StackEnd::no_unwind_info);
  }
  const core::Address frame{callee.values[NativeFrames::kFramePointer]};
  if (frame == core::Address{} && (is_return_address_ || is_at_entry())) {
    return end(core::StackEnd::root);  // how the ABIs mark the outermost frame
  }
  if (frame < sp_ || frame.value() % kWord != 0) {
    return end(core::StackEnd::no_unwind_info);
  }
  const auto next_frame = memory_.word(frame);
  const auto pc = memory_.word(frame + kWord);
  if (!next_frame || !pc) {
    return end_at_missing(next_frame ? frame + kWord : frame);
  }
  if (*pc == 0) {
    return end(core::StackEnd::root);
  }
  FrameRegisters registers;
  registers.pc = core::Address{*pc};
  registers.set(NativeFrames::kStackPointer, frame.value() + 2 * kWord);
  registers.set(NativeFrames::kFramePointer, *next_frame);
  if (move_to(registers, true) == Step::no_answer) {
    return end(core::StackEnd::no_unwind_info);
  }
  sp_is_lowest_ = !NativeFrames::kPairEndsFrame;
  registers_ = cursor_.registers();
  return Step::moved;
}

/// In the first instructions of a program or a loader: the loader's are not described.
bool StackWalk::is_at_entry() const {
  constexpr std::uint64_t kFirstInstructions = 64;  // bytes
  const core::ElfImage* image = region_.module != nullptr ? region_.module->image.get() : nullptr;
  return image != nullptr && region_.elf_address(pc_) - image->entry() < kFirstInstructions;
}

/// Goes on from these registers; no_answer where they are not to be believed.
StackWalk::Step StackWalk::move_to(FrameRegisters registers, bool is_return_address) {
  registers.pc = core::Address{registers.pc.value() & pointer_mask_};
  Caller caller{registers.pc, registers.sp(), is_return_address};
  if ((is_return_address && !is_above(caller.sp)) || !believe(caller)) {
    return Step::no_answer;
  }
  start(registers);
  is_return_address_ = caller.is_return_address;
  return Step::moved;
}

/// A call leaves its caller's sp above the callee's, or where it is: a leaf function need not use
/// the stack on AArch64, and vfork holds its return address in a register.
bool StackWalk::is_above(core::Address sp) const {
  return sp > sp_ || (!is_return_address_ && sp == sp_);
}

/// A return address stands in code, behind a call. What is returned to without having called is
/// entered at its first byte: a signal's trampoline, a context's end; it is no return address.
bool StackWalk::believe(Caller& caller) {
  const CodeRegion* region = space_.find(caller.pc);
  if (region == nullptr) {
    return false;
  }
  if (!caller.is_return_address || region->code.empty() ||
      NativeFrames::ends_in_call(region->code_before(caller.pc))) {
    return true;
  }
  const auto before = region->code_before(caller.pc);
  caller.is_return_address = false;
  if (NativeFrames::is_signal_return(before, region->code_from(caller.pc))) {
    return true;
  }
  const std::uint64_t pc = region->elf_address(caller.pc);
  const auto description = region->module->frames->find(pc);
  return description && (description->begin == pc || description->signal_frame);
}

StackWalk::Step StackWalk::end(core::StackEnd why) {
  end_ = why;
  return Step::ended;
}

/// Copying more would have helped only where the copy's own stack goes on up to there.
StackWalk::Step StackWalk::end_at_missing(core::Address address) {
  const core::AddressRange copy = memory_.range();
  if (address < copy.begin || copy.contains(address)) {
    return end(core::StackEnd::bad_memory);
  }
  const core::Mapping* stack = space_.mapping_at(copy.begin);
  constexpr std::uint64_t kUsualStack = 8ULL << 20U;
  const bool same_stack =
      stack != nullptr ? stack->range.contains(address) : address - copy.end < kUsualStack;
  return end(same_stack ? core::StackEnd::copy_ended : core::StackEnd::bad_memory);
}

}  // namespace sp::supervisor
