#pragma once

#include "core/clock.h"
#include "core/function_copy.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

// Transfers and events that copies note in front of them, where that is not what happens.
namespace sp::supervisor {

/// The stopped thread makes the transfer at pc of `registers` in the original, where nobody sees
/// it; or executes an instruction there of which copies write an event. Nothing happens if they
/// note nothing of it.
void count_transfer(const Tracee& tracee, const core::FunctionCopy& copy,
                    const ptrace::Registers& registers, core::TimePoint now);
/// The stopped thread does not make the transfer at pc of `registers`, in the original; or others
/// see it, too. `is_transferred`: it has come from the copy, and has counted the transfer there; in
/// front of a kept call it always has.
void take_back_transfer(const Tracee& tracee, const ptrace::Registers& registers,
                        bool is_transferred);

/// Of a thread that is stopped, and not at work on its table.
void make_room_for_transfers(const ProbedThread& thread);

}  // namespace sp::supervisor
