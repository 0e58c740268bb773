#pragma once

#include "supervisor/breakpoints/breakpoint_table.h"
#include "supervisor/tracees/instrument_state.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// An address space whose code an instrument changes: its breakpoints, and what the instrument adds
/// to them. Shared by processes that share their memory (vfork).
class InstrumentedCode : public CodeState, public BreakpointTable {
 public:
  using BreakpointTable::BreakpointTable;

  /// Whether a breakpoint that a displaced step has removed is inserted again.
  [[nodiscard]] virtual bool should_reinsert(const BreakpointSite& /*site*/) const { return true; }
};

/// The code of a process that has some.
[[nodiscard]] inline InstrumentedCode* instrumented_code(const TracedProcess& process) {
  return static_cast<InstrumentedCode*>(process.code_state.get());
}

}  // namespace sp::supervisor
