#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/channel.h"
#include "core/messages.h"
#include "core/run_facts.h"
#include "supervisor/channels/control_signals.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/guardian/guardian.h"
#include "supervisor/instruments/exact/exact_counter.h"
#include "supervisor/instruments/probes/probe_counter.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/wait_status.h"
#include "supervisor/sampling/cost_meter.h"
#include "supervisor/sampling/sample_timer.h"
#include "supervisor/sampling/sampler.h"
#include "supervisor/startup/launch.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

struct SupervisorOptions {
  /// Launched: the target. Attached: the load to run beside it, or empty.
  std::vector<std::string> command;
  std::optional<pid_t> pid;  // attach to it
  bool follow_forks = true;
  bool follow_exec = true;
  bool all_threads = true;
  bool no_aslr = false;
  std::optional<ExactOptions> exact;    // count every block, and take no samples
  std::optional<ProbeOptions> probing;  // count blocks beside sampling
  SamplerOptions sampler;
  SampleTimerOptions timer;
};

/// Why a run could not begin: one line for the user and the exit status that goes with it.
struct StartFailure {
  std::string message;
  int status = 125;
};

/// Drives the traced processes. Runs on the process's main thread, which is the one that attached
/// and forked and so the only one that the kernel lets talk to the tracees. Owns the tracees, the
/// guardian and the sample timer's inputs. In: stops, wishes of the user, Requests. Out:
/// StopEvents.
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

  /// The target's pid, after prepare().
  [[nodiscard]] pid_t pid() const { return root_; }
  [[nodiscard]] SampleTimer& timer() { return timer_; }
  [[nodiscard]] WakeupSignal& wakeup() { return wakeup_; }
  [[nodiscard]] UserRequests& user_requests() { return user_requests_; }
  /// Set where the exec of the launched program failed.
  [[nodiscard]] const std::optional<StartFailure>& exec_failure() const { return exec_failure_; }

  /// What is known of the run so far; any thread for the numbers, the end only after run().
  void fill(core::RunFacts& facts) const;

 private:
  // The loop (supervisor.cpp), what is asked for (wishes.cpp), the end (release.cpp).
  void one_round(bool block);
  void serve_user_requests();
  void serve_interrupts();
  void serve_requests();
  void suspend_with_target();
  void interrupt_wanted_slots();
  void begin_release();
  void tell_names();
  void send_all_counts();
  void wake_one_of_each(std::set<const TracedProcess*> processes);
  void wait_for_detaching();
  [[nodiscard]] bool stops_in_flight() const;
  void cancel_stops_in_flight();

  // What a report means (stops.cpp), and who comes and goes (lifecycle.cpp).
  void on_report(const ptrace::Report& report);
  void on_end(pid_t tid, const WaitStatus& status);
  void on_stop(pid_t tid, const WaitStatus& status);
  void on_stop_before_exec(const WaitStatus& status);
  void on_signal(Tracee& tracee, int signal);
  void on_group_stop(Tracee& tracee);
  void on_interrupt_stop(Tracee& tracee);
  void on_event(Tracee& tracee, Event event);
  void on_exec(Tracee& tracee);
  void begin_program(pid_t pid, const std::shared_ptr<TracedProcess>& process,
                     bool stop_in_flight = false);
  void on_exit_event(Tracee& tracee);
  /// Exact mode's own stops. True where the thread was seen to.
  [[nodiscard]] bool on_exact_stop(Tracee& tracee, const WaitStatus& status);
  void on_forked(const Tracee& tracee);
  /// The same for probes.
  [[nodiscard]] bool on_probe_stop(Tracee& tracee, const WaitStatus& status);
  [[nodiscard]] bool make_detachable(Tracee& tracee);
  [[nodiscard]] static bool has_something_of_ours(const TracedProcess& process);
  [[nodiscard]] bool may_insert() const { return exact_ || probes_; }
  void begin_counting_child(TracedProcess& process, pid_t tid, core::ProcessId parent);
  void begin_probing_child(TracedProcess& process, pid_t tid, core::ProcessId parent);
  [[nodiscard]] bool is_own_stop(const Tracee& tracee) const;
  void sample_and_resume(Tracee& tracee);
  void resume(Tracee& tracee, int signal);
  void let_run(Tracee& tracee, int signal, bool may_detach);
  Tracee* adopt(pid_t tid);
  Tracee& add_tracee(pid_t tid, pid_t pid, std::shared_ptr<TracedProcess> process);
  void remove_tracee(Tracee& tracee);
  std::shared_ptr<TracedProcess> add_process(pid_t pid, core::ProcessId parent);
  /// The same pid with another program.
  std::shared_ptr<TracedProcess> exec_process(const std::shared_ptr<TracedProcess>& before);
  void announce(const TracedProcess& process, core::ProcessId parent);
  void remember_code(const std::shared_ptr<TracedProcess>& process);
  template <typename Code>
  [[nodiscard]] std::shared_ptr<Code> find_unannounced(std::shared_ptr<Code> TracedProcess::*code,
                                                       pid_t tid, core::ProcessId parent);
  void end_process(const std::shared_ptr<TracedProcess>& process, core::ThreadId thread);

  SupervisorOptions options_;
  Guardian& guardian_;
  core::Channel<core::Request>& requests_;
  Outbox outbox_;
  SampleSlots slots_;
  CostMeter meter_;
  UserRequests user_requests_;
  WakeupSignal wakeup_;
  SampleTimer timer_;
  Sampler sampler_;
  TraceeTable tracees_;
  std::optional<ExactCounter> exact_;
  std::optional<ProbeCounter> probes_;
  /// Children that were announced and have not reported yet.
  std::unordered_map<pid_t, ExactCounter::Origin> origins_;
  std::unordered_map<pid_t, std::shared_ptr<ProbedCode>> probed_origins_;
  /// The code of processes that have just ended: one that is killed in its fork announces no child.
  struct Ended {
    core::TimePoint time;
    std::shared_ptr<TracedProcess> process;
  };
  std::deque<Ended> ended_;

  std::optional<LaunchedChild> child_;
  std::optional<LaunchedChild> load_;
  std::vector<pid_t> attached_;
  pid_t root_ = 0;
  bool root_execed_ = false;
  std::optional<StartFailure> exec_failure_;
  std::optional<WaitStatus> root_end_;
  bool load_ended_ = false;
  bool over_ = false;
  bool releasing_ = false;
  bool at_syscall_ = false;      // the stop that is being served: on the side of a system call
  core::TimePoint reported_at_;  // when the report that is being served was heard of

  int interrupts_served_ = 0;
  std::optional<core::TimePoint> interrupted_at_;
  std::optional<core::TimePoint> suspend_asked_at_;
  core::TimePoint target_saw_interrupt_;
  bool waits_for_target_ = false;
};

}  // namespace sp::supervisor
