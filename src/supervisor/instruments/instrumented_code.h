#pragma once

#include <set>

#include "core/address.h"
#include "supervisor/breakpoints/breakpoint_table.h"
#include "supervisor/instruments/signal_handlers.h"
#include "supervisor/tracees/instrument_state.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// An address space whose code an instrument changes: its breakpoints, and what the instrument adds
/// to them. Shared by processes that share their memory (vfork).
class InstrumentedCode : public CodeState, public BreakpointTable {
 public:
  using BreakpointTable::BreakpointTable;
  /// A forked child's, as BreakpointTable's.
  InstrumentedCode(core::ProcessId owner, pid_t tid, const InstrumentedCode& parent,
                   std::uint64_t inherited)
      : BreakpointTable(owner, tid, parent, inherited),
        signal_handlers_(parent.signal_handlers_),
        gates_(parent.gates_) {}

  /// The site for a gate; nullptr where there is one already.
  [[nodiscard]] BreakpointSite* gate_site(const core::Instruction& instruction) {
    BreakpointSite& site = site_of(instruction);
    gates_.insert(instruction.address);
    return site.gate == Gate::none ? &site : nullptr;
  }
  /// Where gates are, or were.
  [[nodiscard]] const std::set<core::Address>& gates() const { return gates_; }
  /// How SIGTRAP stands in the handlers of other signals.
  [[nodiscard]] SignalHandlers& signal_handlers() { return signal_handlers_; }

  /// Unmaps what the instrument has mapped in the process. `tid` makes the calls; no thread of the
  /// process is in that memory.
  virtual void unmap_memory(pid_t /*tid*/) {}

  /// Whether a breakpoint that a displaced step has removed is inserted again.
  [[nodiscard]] virtual bool should_reinsert(const BreakpointSite& /*site*/) const { return true; }

 private:
  SignalHandlers signal_handlers_;
  std::set<core::Address> gates_;
};

/// Gives new code what exec hands on of SIGTRAP's action.
inline void inherit_action(TracedProcess& process) {
  if (process.ignores_sigtrap) {
    static_cast<InstrumentedCode&>(*process.code_state).trap_handler().program.handler = 1;
  }
}

/// The code of a process that has some.
[[nodiscard]] inline InstrumentedCode* instrumented_code(const TracedProcess& process) {
  return static_cast<InstrumentedCode*>(process.code_state.get());
}

/// The program ignores SIGTRAP, as far as it can see.
[[nodiscard]] inline bool ignores_trap(const TracedProcess& process) {
  return process.has_set_sigtrap_ignored.value_or(
      instrumented_code(process)->trap_handler().program.is_ignore());
}

}  // namespace sp::supervisor
