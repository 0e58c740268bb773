#pragma once

#include <sys/types.h>

#include <memory>

#include "supervisor/crash_watch.h"
#include "supervisor/instruments/instrument.h"
#include "supervisor/lifecycle.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/wait_status.h"
#include "supervisor/requests.h"
#include "supervisor/run_state.h"
#include "supervisor/sampling/sample_timer.h"
#include "supervisor/sampling/sampler.h"
#include "supervisor/syscall_repair.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// What a stop of a tracee means, and what is done about it: every stop ends with the thread
/// running, in a group-stop or detached. The instrument is asked first. Runs on the ptrace thread.
class StopHandler {
 public:
  struct Parts {
    RunState& run;
    Lifecycle& lifecycle;
    RequestServer& requests;
    Sampler& sampler;
    SampleTimer& timer;
    CostMeter& meter;
    CrashWatch& crashes;
    Instrument* instrument = nullptr;
  };
  StopHandler(const Parts& parts, bool follow_exec) : parts_(parts), follow_exec_(follow_exec) {}

  /// A thread that is traced has stopped.
  void on_stop(Tracee& tracee, const WaitStatus& status);
  /// Handles the exec stop of a new program's first thread. `stop_is_pending`: a SIGSTOP of ours is
  /// pending for it.
  void begin_program(pid_t pid, const std::shared_ptr<TracedProcess>& process,
                     bool stop_is_pending);
  /// At the end, when all threads are detached that can be.
  void remove_code() const { calls_.remove_code(); }

 private:
  /// True where the instrument has dealt with the stop.
  [[nodiscard]] bool on_instrument_stop(Tracee& tracee, const WaitStatus& status);
  void on_signal(Tracee& tracee, int signal);
  void on_group_stop(Tracee& tracee);
  void on_first_stop(Tracee& tracee);
  void on_interrupt_stop(Tracee& tracee);
  void on_event(Tracee& tracee, Event event);
  void on_exec(Tracee& tracee);
  void on_exit_event(Tracee& tracee);
  void sample_and_resume(Tracee& tracee);
  void resume(Tracee& tracee, int signal);
  void let_run(Tracee& tracee, int signal, bool may_detach);

  Parts parts_;
  bool follow_exec_;
  SyscallRepair calls_;
  bool may_call_ = false;  // the thread is in a signal-delivery or interrupt stop
};

}  // namespace sp::supervisor
