#pragma once

#include "supervisor/unwinding/current_frame.h"

namespace sp::supervisor {

/// Strategies for a frame whose pc is an instruction, not a return address: the innermost one, and
/// one that a signal interrupted. They go by the instructions around pc.

/// The trampoline through which a signal handler returns: the kernel's signal frame holds the
/// registers. The trampoline has CFI too, but not on every CPU the right one.
UnwindStep unwind_by_signal_frame(CurrentFrame& frame);

/// An epilogue: what it has not restored yet, and where the return address is, shows in the
/// instructions up to its return. Compilers often do not describe epilogues in CFI.
UnwindStep unwind_by_epilogue(CurrentFrame& frame);

/// A stub or a leaf function without a frame: the return address is still in its register, or near
/// the top of the stack.
UnwindStep unwind_without_frame(CurrentFrame& frame);

}  // namespace sp::supervisor
