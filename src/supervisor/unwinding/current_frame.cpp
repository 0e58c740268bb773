#include "supervisor/unwinding/current_frame.h"

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

CurrentFrame::CurrentFrame(FrameCursor& cursor, AddressSpace& space, const core::RawStack& raw)
    : cursor_(cursor),
      space_(space),
      memory_(raw),
      pointer_mask_(~raw.registers.code_pointer_mask) {
  start(registers_of(raw.registers));
}

void CurrentFrame::start(const FrameRegisters& registers) {
  cursor_.start(registers, memory_);
  pc_ = strip(registers.pc);
  sp_ = registers.sp();
  sp_is_lower_bound_ = false;
}

bool CurrentFrame::find_region() {
  const CodeRegion* region = space_.find(pc_);
  if (region == nullptr) {
    return false;
  }
  region_ = *region;
  return true;
}

UnwindStep CurrentFrame::move_to(FrameRegisters registers, bool is_return_address) {
  registers.pc = strip(registers.pc);
  Caller caller{registers.pc, registers.sp(), is_return_address};
  if ((is_return_address && !is_above(caller.sp)) || !is_plausible(caller)) {
    return UnwindStep::no_answer;
  }
  start(registers);
  is_return_address_ = caller.is_return_address;
  return UnwindStep::moved;
}

UnwindStep CurrentFrame::move_to_cursor() {
  Caller caller{strip(cursor_.pc()), cursor_.sp(), !cursor_.was_signal_frame()};
  // A signal handler may run on a stack of its own, which can be anywhere.
  if ((caller.is_return_address && !is_above(caller.sp)) || !is_plausible(caller)) {
    return end(core::StackEnd::bad_memory);
  }
  pc_ = caller.pc;
  sp_ = caller.sp;
  is_return_address_ = caller.is_return_address;
  return UnwindStep::moved;
}

void CurrentFrame::set_sp_is_lower_bound() {
  sp_is_lower_bound_ = true;
  registers_ = cursor_.registers();
}

void CurrentFrame::restart_with_sp(core::Address sp) {
  registers_.set(NativeFrames::kStackPointer, sp.value());
  start(registers_);
}

/// A call leaves its caller's sp above the callee's, or at it: a leaf function need not use the
/// stack on AArch64, and vfork holds its return address in a register.
bool CurrentFrame::is_above(core::Address sp) const {
  return sp > sp_ || (!is_return_address_ && sp == sp_);
}

/// A return address is in code, behind a call. Code that was not called is entered at its first
/// byte (a signal's trampoline, a context's end): that is no return address, and noted as such.
bool CurrentFrame::is_plausible(Caller& caller) {
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
  const auto fde = region->module->frames->find(pc);
  return fde && (fde->begin == pc || fde->signal_frame);
}

UnwindStep CurrentFrame::end(core::StackEnd reason) {
  end_ = reason;
  return UnwindStep::ended;
}

UnwindStep CurrentFrame::end_at_missing(core::Address address) {
  const core::AddressRange copy = memory_.range();
  if (address < copy.begin || copy.contains(address)) {
    return end(core::StackEnd::bad_memory);
  }
  // A larger copy would have helped only if the same stack goes on up to there.
  const core::Mapping* stack = space_.mapping_at(copy.begin);
  constexpr std::uint64_t kUsualStack = 8ULL << 20U;
  const bool same_stack =
      stack != nullptr ? stack->range.contains(address) : address - copy.end < kUsualStack;
  return end(same_stack ? core::StackEnd::copy_ended : core::StackEnd::bad_memory);
}

}  // namespace sp::supervisor
