#pragma once

#include "core/address.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

/// Call it where the handler of an earlier superprofiler, which was killed, is to be replaced. Its
/// guardian may still be restoring breakpoints, and a thread that met one of them would find nobody
/// who knows it. Waits until none is left, and restores those that are there after 2 s.
/// `handler`: the page of the earlier handler.
void await_restoration(const TargetMemory& memory, core::Address handler);

}  // namespace sp::supervisor
