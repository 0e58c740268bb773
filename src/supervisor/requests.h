#pragma once

#include <optional>

#include "core/channel.h"
#include "core/clock.h"
#include "core/messages.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/channels/trace_requests.h"
#include "supervisor/channels/user_requests.h"
#include "supervisor/channels/wakeup_signal.h"
#include "supervisor/crash_watch.h"
#include "supervisor/instruments/instrument.h"
#include "supervisor/lifecycle.h"
#include "supervisor/run_state.h"
#include "supervisor/sampling/sample_timer.h"

namespace sp::supervisor {

/// Serves what the user (signals, a deadline), the timer and the analyzer ask of the ptrace thread,
/// which calls serve() whenever it was woken.
class RequestServer {
 public:
  struct Parts {
    RunState& run;
    UserRequests& user;
    WakeupSignal& wakeup;
    core::Channel<core::Request>& analyzer;
    Lifecycle& lifecycle;
    Outbox& outbox;
    SampleTimer& timer;
    CrashWatch& crashes;
    TraceRequests& trace;
    Instrument* instrument = nullptr;
  };
  explicit RequestServer(const Parts& parts) : parts_(parts) {}

  void serve();
  /// SIGINT or SIGQUIT is about to be delivered to a launched target: Ctrl-C reached it, too.
  void on_target_interrupt();
  /// The target's main thread has entered a group-stop, which suspend() may be waiting for.
  void on_root_stopped();

 private:
  void serve_user();
  void serve_interrupts();
  void serve_analyzer();
  void serve(const core::LargerStackDump& request);
  void serve(const core::StopBlocked& request);
  void serve(const core::ProbeFunctions& request);
  void serve(const core::CrashResolved& request) { parts_.crashes.on_resolved(request.process); }
  /// Job control wants us stopped: we stop once the target has.
  void suspend();
  void serve_trace();
  void interrupt_slots();

  Parts parts_;
  int interrupts_served_ = 0;
  std::optional<core::TimePoint> interrupted_at_;
  std::optional<core::TimePoint> suspend_asked_at_;
  core::TimePoint target_saw_interrupt_;
  bool waits_for_target_ = false;
};

}  // namespace sp::supervisor
