#pragma once

#include <vector>

#include "core/clock.h"
#include "core/ids.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/channels/user_requests.h"
#include "supervisor/instruments/instrument.h"
#include "supervisor/lifecycle.h"
#include "supervisor/run_state.h"
#include "supervisor/sampling/sampler.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// Sees processes die of signals that dump core, in the stop before the signal is delivered: takes
/// their stacks, gives them their own code back, and lets the signal do what it does. A process
/// stays in its exit stop, behind its core dump, until the analyzer has read its code, for two
/// seconds at most. Runs on the ptrace thread. Out: Crashed events.
class CrashWatch {
 public:
  struct Parts {
    RunState& run;
    Lifecycle& lifecycle;
    Sampler& sampler;
    Outbox& outbox;
    UserRequests& user;
    Instrument* instrument = nullptr;
  };
  /// `reports` false: only code is given back.
  CrashWatch(const Parts& parts, bool reports) : parts_(parts), reports_(reports) {}

  /// The signal is about to be delivered to the thread.
  void on_delivery(Tracee& tracee, int signal);
  /// The thread is in its exit stop. True where it stays there; serve() resumes it.
  [[nodiscard]] bool holds(const Tracee& tracee);
  void on_resolved(core::ProcessId process);
  /// Lets go of processes whose time is up, of all at the end of the run. In every round.
  void serve();

 private:
  struct Dying {
    core::ProcessId process;
    core::ThreadId thread;  // that got the signal
    core::TimePoint until;
    bool is_resolved = false;
    bool is_held = false;
  };

  Parts parts_;
  bool reports_;
  std::vector<Dying> dying_;
};

}  // namespace sp::supervisor
