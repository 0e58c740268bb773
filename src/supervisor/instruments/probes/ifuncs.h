#pragma once

#include "core/address.h"
#include "supervisor/instruments/module_scan.h"
#include "supervisor/instruments/probes/probed_code.h"

// An IFUNC's symbol is that of its resolver, which returns the function that is to be called. This
// is what `count` counts under that name. It shows where a resolver returns, and in the words that
// the loader has set to what it returned.
namespace sp::supervisor {

/// `resolver` returns `at`.
void note_resolved(ProbedCode& code, const ProbedFunction& resolver, core::Address at);
/// Looks at the words of all modules that the process has mapped.
void find_resolved(ProbedCode& code, const ModuleScan& scan);

}  // namespace sp::supervisor
