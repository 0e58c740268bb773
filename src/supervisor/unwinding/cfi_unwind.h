#pragma once

#include "supervisor/unwinding/current_frame.h"

namespace sp::supervisor {

/// Unwinds a frame by its call frame information, and corrects what that gets wrong: a prologue
/// that CFI does not describe, the loader's PLT resolver, and an sp that was only a lower bound.
UnwindStep unwind_by_cfi(CurrentFrame& frame);

}  // namespace sp::supervisor
