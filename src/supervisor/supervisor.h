#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/channel.h"
#include "core/messages.h"
#include "core/result.h"
#include "core/run_facts.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/channels/trace_requests.h"
#include "supervisor/channels/user_requests.h"
#include "supervisor/channels/wakeup_signal.h"
#include "supervisor/crash_watch.h"
#include "supervisor/guardian/guardian.h"
#include "supervisor/instruments/instrument.h"
#include "supervisor/lifecycle.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/wait_status.h"
#include "supervisor/release.h"
#include "supervisor/requests.h"
#include "supervisor/run_state.h"
#include "supervisor/sampling/cost_meter.h"
#include "supervisor/sampling/sample_timer.h"
#include "supervisor/sampling/sampler.h"
#include "supervisor/startup/attach.h"
#include "supervisor/startup/launch.h"
#include "supervisor/stop_handler.h"
#include "supervisor/thread_dump.h"

namespace sp::supervisor {

struct SupervisorOptions {
  /// Launched: the target. Attached: the load to run beside it, or empty.
  std::vector<std::string> command;
  std::vector<pid_t> pids;  // attach to these processes, or without all_threads to such threads
  bool follow_forks = true;
  bool follow_exec = true;
  bool all_threads = true;       // not only the main ones
  bool reports_crashes = false;  // with the stacks of all threads
  bool names_threads = false;    // the recording tells threads apart
  bool no_aslr = false;
  bool is_in_parts = false;        // each part of the run has the costs of its time
  MakeInstrument make_instrument;  // empty: samples only
  /// Not empty: the stacks of all threads are taken once, when the run begins, and this is called
  /// with what else is known of them. Without an instrument.
  std::function<void(ThreadDump)> on_dump;
  SamplerOptions sampler;
  SampleTimerOptions timer;
};

/// Why a run could not begin: one line for the user and the exit status that goes with it.
struct StartFailure {
  std::string message;
  int status = 125;
};

/// Drives the traced processes: the loop around wait(2). Runs on the process's main thread, which
/// is the one that attached and forked and so the only one that the kernel lets talk to the
/// tracees. Joins the parts that give a stop its meaning (StopHandler), know who is traced
/// (Lifecycle), serve requests (RequestServer) and let everybody go (Release). In: stops, user
/// requests, Requests of the analyzer. Out: StopEvents.
///
///   prepare()  forks the child, or attaches; nothing runs differently yet
///   begin()    the child may exec, the events begin
///   run()      until the target has ended or is to be let go
///   serve()    while the results are being written, what is still attached must be served
/// When the process ends the kernel lets go of whatever is still attached, without stopping it:
/// that is how threads that sleep in a system call are let go without waking them.
class Supervisor {
 public:
  Supervisor(SupervisorOptions options, Guardian& guardian, core::Channel<core::StopEvent>& events,
             core::Channel<core::Request>& requests);

  [[nodiscard]] tl::expected<void, StartFailure> prepare();
  void begin();
  void run();
  void serve(const std::function<bool()>& finished);

  /// The target's pid, after prepare(); of several the first one's.
  [[nodiscard]] pid_t pid() const { return run_.root; }
  [[nodiscard]] SampleTimer& timer() { return timer_; }
  [[nodiscard]] WakeupSignal& wakeup() { return wakeup_; }
  [[nodiscard]] UserRequests& user_requests() { return user_requests_; }
  [[nodiscard]] TraceRequests& trace_requests() { return trace_requests_; }
  /// Set where the exec of the launched program failed.
  [[nodiscard]] const std::optional<StartFailure>& exec_failure() const { return exec_failure_; }

  /// What is known of the run so far; any thread for the numbers, the end only after run().
  void fill(core::RunFacts& facts) const;

 private:
  [[nodiscard]] tl::expected<void, StartFailure> prepare_attach(ptrace::FollowOptions follow);
  void begin_attached(const AttachedProcess& attached);
  void one_round();
  /// Stops that a WorldStop has seen come first: nobody else asks for them.
  [[nodiscard]] core::Result<std::optional<ptrace::Report>> next_report();
  void on_report(const ptrace::Report& report);
  void on_end(const ptrace::Report& report, const WaitStatus& status);
  void on_load_end();
  void on_stop(pid_t tid, const WaitStatus& status);
  void on_stop_before_exec(const WaitStatus& status);
  [[nodiscard]] StartFailure explain(int exec_error) const;
  void fill_cost(core::RunFacts& facts) const;

  SupervisorOptions options_;
  Guardian& guardian_;
  RunState run_;
  Outbox outbox_;
  Lifecycle lifecycle_;
  CostMeter meter_;
  UserRequests user_requests_;
  WakeupSignal wakeup_;
  TraceRequests trace_requests_{wakeup_};
  SampleTimer timer_;
  Sampler sampler_;
  std::unique_ptr<Instrument> instrument_;  // null: none
  CrashWatch crashes_;
  RequestServer requests_;
  StopHandler stops_;
  Release release_;

  std::optional<LaunchedChild> child_;
  std::optional<LaunchedChild> load_;
  std::vector<AttachedProcess> attached_;
  bool root_execed_ = false;
  std::optional<StartFailure> exec_failure_;
  std::optional<WaitStatus> root_end_;
  core::Duration root_cpu_{};  // then, if it was launched
  bool load_ended_ = false;
};

}  // namespace sp::supervisor
