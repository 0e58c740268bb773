#pragma once

#include <sys/types.h>

#include "core/address.h"
#include "supervisor/instruments/instrumented_code.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

/// Removes the traces that a single step over the instruction at `executed` has left in the
/// thread's registers or memory.
void hide_step(InstrumentedCode& code, pid_t tid, core::Address executed,
               ptrace::Registers& registers);

}  // namespace sp::supervisor
