#pragma once

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
/// A gate, which somebody may be serving, stands in the module.
[[nodiscard]] bool holds_gates(ProbedCode& code, core::AddressRange mapped);
/// Ends the counts of the blocks whose probes the program has overwritten.
void end_overwritten(ProbedCode& code, core::TimePoint now);

}  // namespace sp::supervisor
