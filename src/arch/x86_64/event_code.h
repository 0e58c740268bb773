#pragma once

#include <cstdint>

#include "arch/x86_64/inserted_code.h"
#include "core/function_copy.h"

namespace sp::arch::x86_64 {

/// Code that writes an event to the thread's EventRing, ahead of an instruction before which the
/// stack pointer is at a word that can be read. `saves_flags`: code may read them later.
[[nodiscard]] InsertedCode write_event(const core::EventRing& ring,
                                       const core::FunctionToCopy::Place& place, bool saves_flags);

}  // namespace sp::arch::x86_64
