#pragma once

#include "supervisor/unwinding/current_frame.h"

namespace sp::supervisor {

/// Unwinds a frame by the frame pointer, which leads to the pair (caller's frame pointer, return
/// address) on both CPUs. Nothing is known of the caller's other registers then. Never returns
/// no_answer: it is the last strategy.
UnwindStep unwind_by_frame_pointer(CurrentFrame& frame);

}  // namespace sp::supervisor
