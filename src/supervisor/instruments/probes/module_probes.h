#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "core/clock.h"
#include "core/ids.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/copies/copy_use.h"
#include "supervisor/instruments/code_analysis.h"
#include "supervisor/instruments/module_scan.h"
#include "supervisor/instruments/probes/probe_costs.h"
#include "supervisor/instruments/syscall_gates.h"
#include "supervisor/tracees/tracee.h"
#include "supervisor/tracees/world_stop.h"

namespace sp::supervisor {

/// Gives the functions of a process's modules their entry probes, when a process is begun and as
/// modules come and go. Runs on the ptrace thread.
class ModuleProbes {
 public:
  ModuleProbes(CodeAnalysis& analysis, Outbox& outbox, ProbeCosts& costs, TraceeTable& tracees)
      : analysis_(analysis), outbox_(outbox), costs_(costs), tracees_(tracees), gates_(&analysis) {}

  /// What was executed of a new module before its probes came.
  enum class When : std::uint8_t {
    at_start,    // nothing, and nothing of the process
    at_load,     // nothing but what the loader does with it
    at_mapping,  // nothing
    at_attach,   // perhaps it is being executed
  };
  /// The thread is in a signal-delivery or interrupt stop. Installs the trap handler and
  /// instruments the modules that there are. Without a handler the process gets no probes.
  void begin(Tracee& tracee);
  /// --trace: the program is about to make code in `range` writable. It may keep what
  /// it finds there and write it again: it finds its own code. Nothing of these modules is traced
  /// until read_written().
  void expect_writes(TracedProcess& process, pid_t tid, core::AddressRange range);
  /// A program has written to its code in `range`, as XRay's runtime does when it switches sleds
  /// on.
  /// --trace, --coverage: a module that it could write to is read again, with breakpoints as at an
  /// attach. Else the counts of what it has overwritten end.
  void read_written(TracedProcess& process, pid_t tid, core::AddressRange range);
  [[nodiscard]] static bool reads_written(ProbedCode& code) {
    return code.coverage() != nullptr ||
           (code.trace() && code.trace()->recorder != nullptr && !code.trace()->is_off);
  }
  /// The same where all breakpoints were removed for a time in which nothing was seen: the handler
  /// and gates are put back, and modules looked at; nothing else. False where the process handles
  /// SIGTRAP itself by now.
  [[nodiscard]] bool begin_again(Tracee& tracee);
  /// Modules have come or gone.
  void update(TracedProcess& process, pid_t tid, When when);
  /// The loader has mapped a file (at_load: and relocated it), or is about to unmap one.
  void on_library_event(TracedProcess& process, pid_t tid, When when = When::at_load);
  /// The loader has called mmap.
  void on_mapping(TracedProcess& process, pid_t tid, const ptrace::Registers& registers);
  /// As update(), where no breakpoint tells of modules, and the last look is long enough ago.
  void look_again(TracedProcess& process, pid_t tid);
  /// Delivers what was counted for the process. `read_again`: modules that are, next.
  void flush(const TracedProcess& process, core::ThreadId thread,
             std::span<const core::AddressRange> read_again = {});
  /// Charges what copies have counted since the last call.
  void charge_copies(const TracedProcess& process);
  /// What was charged. Any thread.
  [[nodiscard]] CopyUse used_copies() const {
    return {.executions = executions_in_copies_,
            .branches = branches_in_copies_,
            .arrivals = arrivals_in_copies_,
            .transfers = transfers_in_copies_};
  }

 private:
  /// True where no more gates are to come.
  bool insert_gates(const TracedProcess& process, const ModuleScan& scan);
  /// The same for the first ones.
  bool insert_first_gates(const Tracee& tracee, const ModuleScan& scan);
  /// So that files are seen as they come and go. `has_gates`: insert_gates()' result.
  void watch_loader(ProbedCode& code, const ModuleScan& scan, bool has_gates);
  void charge(const TracedProcess& process, core::Duration cost);
  void unblock_trap_in(const WorldStop& world);

  CodeAnalysis& analysis_;
  Outbox& outbox_;
  ProbeCosts& costs_;
  TraceeTable& tracees_;
  SyscallGates gates_;
  core::TimePoint next_look_;
  std::atomic<std::uint64_t> executions_in_copies_{0};
  std::atomic<std::uint64_t> branches_in_copies_{0};
  std::atomic<std::uint64_t> arrivals_in_copies_{0};
  std::atomic<std::uint64_t> transfers_in_copies_{0};
};

}  // namespace sp::supervisor
