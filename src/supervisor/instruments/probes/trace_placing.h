#pragma once

#include "core/clock.h"
#include "supervisor/instruments/probes/probed_code.h"

// The breakpoints of a trace that is switched off and on; see trace_switch.h.
namespace sp::supervisor {

/// Removes those of functions that are to have no places now. Gates stay.
void remove_places(ProbedCode& code);

/// Calls of the function are counted up to `now`, or from then on.
void change_spans(ProbedCode& code, const ProbedFunction& function, bool is_end,
                  core::TimePoint now);

/// Inserts those of all functions that are to have places. Who has not been entered yet is traced
/// from its next entry on, which is after `now`.
void insert_places(ProbedCode& code, core::TimePoint now);

}  // namespace sp::supervisor
