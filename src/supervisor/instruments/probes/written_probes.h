#pragma once

#include <sys/types.h>

#include <span>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "supervisor/instruments/probes/probed_code.h"

namespace sp::supervisor {

/// The program writes to its code at `address`: removes the probes of that page and ends their
/// counts.
void leave_written_page(ProbedCode& code, core::Address address, core::TimePoint now);
/// The program has written to code of a module: removes what it has left of the module's
/// breakpoints, and knows nothing of the module any more.
void forget_written_module(ProbedCode& code, core::AddressRange mapped);
/// The modules that hold these sites, but for those with gates, which somebody may be serving.
[[nodiscard]] std::vector<core::AddressRange> to_be_read_again(
    ProbedCode& code, std::span<BreakpointSite* const> overwritten);
/// Removes the probes among breakpoints in code that the program writes to, and ends what they
/// count.
void leave_probes(ProbedCode& code, std::vector<BreakpointSite*> sites, core::TimePoint now);
/// Functions of the module that have been entered are not counted or traced for a while.
void end_entered(ProbedCode& code, core::AddressRange mapped, core::TimePoint now);
/// Ends the counts of the blocks, and the trace of the functions, whose probes the program has
/// overwritten; not of functions that nobody has entered, in modules that are to be read again.
void end_overwritten(ProbedCode& code, core::TimePoint now,
                     std::span<const core::AddressRange> read_again);

/// The same of a process that is about to end, if code of a file can be written to there.
void end_overwritten_at_exit(ProbedCode& code, pid_t tid);

}  // namespace sp::supervisor
