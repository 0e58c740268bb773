#pragma once

#include <optional>

#include "core/function_trace.h"
#include "supervisor/instruments/probes/probed_function.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// What the program says by the event in that sled, at whose begin or call the thread is. Nothing
/// if its code is not as compilers make it.
[[nodiscard]] std::optional<core::ProgramEvent> program_event(const Tracee& tracee,
                                                              const EventSled& sled,
                                                              const ptrace::Registers& registers);

}  // namespace sp::supervisor
