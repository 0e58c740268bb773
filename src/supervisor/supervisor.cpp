#include "supervisor/supervisor.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/log.h"
#include "supervisor/guardian/code_change.h"
#include "supervisor/startup/refusal.h"

namespace sp::supervisor {
namespace {

/// What the ptrace thread spends on stops. What it waits for a CPU itself is not theirs, but what
/// it waits until all have been in the kernel is.
core::Duration own_time() { return core::thread_cpu_time() + waited_for_every_cpu(); }

}  // namespace

Supervisor::Supervisor(SupervisorOptions options, Guardian& guardian,
                       core::Channel<core::StopEvent>& events,
                       core::Channel<core::Request>& requests)
    : options_(std::move(options)),
      guardian_(guardian),
      outbox_(events),
      lifecycle_({options_.follow_forks, options_.all_threads, options_.names_threads}, run_,
                 guardian, outbox_),
      timer_(options_.timer, lifecycle_.slots(), meter_, user_requests_, wakeup_, events),
      sampler_(options_.sampler, outbox_),
      instrument_(options_.make_instrument
                      ? options_.make_instrument({outbox_, guardian, meter_, timer_,
                                                  lifecycle_.tracees(), trace_requests_})
                      : nullptr),
      crashes_({run_, lifecycle_, sampler_, outbox_, user_requests_, instrument_.get()},
               options_.reports_crashes),
      requests_({run_, user_requests_, wakeup_, requests, lifecycle_, outbox_, timer_, crashes_,
                 trace_requests_, instrument_.get()}),
      stops_({run_, lifecycle_, requests_, sampler_, timer_, meter_, crashes_, instrument_.get()},
             options_.follow_exec),
      release_(run_, lifecycle_, timer_, instrument_.get()) {
  lifecycle_.use(instrument_.get());
  user_requests_.rounds = instrument_ != nullptr && instrument_->needs().rounds;
}

void Supervisor::run() {
  wake_up_promptly();  // not before: a child would inherit it
  if (options_.on_dump) {
    user_requests_.heartbeat = true;
    options_.on_dump(dump_threads(lifecycle_, run_, outbox_, [this] { one_round(); }));
  }
  while (!run_.over) {
    one_round();
  }
  crashes_.serve();
  release_.begin();
  user_requests_.heartbeat = true;
  release_.finish([this] { one_round(); });
  stops_.remove_code();
  outbox_.close();
}

void Supervisor::serve(const std::function<bool()>& finished) {
  user_requests_.heartbeat = true;
  while (!finished()) {
    one_round();
  }
}

void Supervisor::one_round() {
  if (wakeup_.taken()) {
    requests_.serve();
    if (run_.over && !run_.releasing) {
      return;  // where every thread sleeps no report would end the wait
    }
    if (user_requests_.rounds) {
      user_requests_.soon = instrument_->on_round();
    }
  }
  outbox_.flush();
  crashes_.serve();
  const auto report = next_report();
  if (!report) {
    // ECHILD: nothing is left. Somebody wakes us while we wait for more than children.
    run_.over = true;
    if (run_.releasing) {
      lifecycle_.forget_all_announced();
      ::usleep(1000);
    }
    return;
  }
  if (*report) {
    run_.reported_at = core::Clock::now();
    const CostMeter::Charged before = meter_.charged();
    const core::Duration used = own_time();
    on_report(**report);
    // Whoever has ended is not stopped, but its parent hears of it once we have.
    const bool was_stop = WIFSTOPPED((*report)->status);
    meter_.add_following(was_stop ? own_time() - used : core::Duration{}, before);
  }
}

core::Result<std::optional<ptrace::Report>> Supervisor::next_report() {
  if (instrument_ == nullptr && !options_.on_dump) {
    return ptrace::wait_any(true);
  }
  while (const auto tid = lifecycle_.tracees().next_left_report()) {
    if (auto report = ptrace::watch(*tid); report && *report) {
      return report;
    }
  }
  return ptrace::watch_any(true);
}

void Supervisor::on_report(const ptrace::Report& report) {
  const WaitStatus status = parse_wait_status(report.status);
  if (std::holds_alternative<NotAStop>(status)) {
    return;
  }
  if (std::holds_alternative<Exited>(status) || std::holds_alternative<Killed>(status)) {
    on_end(report, status);
  } else {
    on_stop(report.tid, status);
  }
  // With nobody left there is nothing to wait for, but for the guardian, which waits for us.
  const bool target_gone = child_ ? root_end_.has_value() : true;
  run_.over = run_.over || (lifecycle_.tracees().empty() && target_gone && (!load_ || load_ended_));
}

void Supervisor::on_end(const ptrace::Report& report, const WaitStatus& status) {
  const pid_t tid = report.tid;
  if (tid == guardian_.pid()) {
    // Without it a SIGKILL of ours could leave the target stopped: stop in the way that cannot.
    core::log_note("the guardian process was killed; sampling goes on with PTRACE_INTERRUPT");
    timer_.use_interrupts();
    return;
  }
  if (load_ && tid == load_->pid()) {
    on_load_end();
    return;
  }
  lifecycle_.forget_announced(tid);  // it may not have come as far as its first stop
  if (Tracee* tracee = lifecycle_.tracees().find(tid)) {
    lifecycle_.remove_thread(*tracee);
  }
  const bool was_last = run_.roots.end_thread(tid);
  if (!was_last && !(run_.launched && tid == run_.root)) {
    return;
  }
  root_end_ = status;
  root_cpu_ = child_ ? report.cpu : core::Duration{};
  // With a load beside it the run lasts as long as the load: it is the user's command.
  run_.over = !load_ || load_ended_;
  if (child_ && !root_execed_) {
    exec_failure_ = explain(child_->exec_error());
  }
}

void Supervisor::on_load_end() {
  load_ended_ = true;
  run_.over = true;
  if (const int error = load_->exec_error(); error != 0) {
    exec_failure_ = explain(error);
  }
}

StartFailure Supervisor::explain(int exec_error) const {
  return {explain_exec_error(options_.command.front(), exec_error),
          status_of_exec_error(exec_error)};
}

void Supervisor::on_stop(pid_t tid, const WaitStatus& status) {
  Tracee* tracee = lifecycle_.tracees().find(tid);
  if (tracee == nullptr && child_ && tid == run_.root && !root_execed_) {
    on_stop_before_exec(status);
    return;
  }
  if (tracee == nullptr) {
    tracee = lifecycle_.adopt(tid);
  }
  if (tracee == nullptr) {
    (void)ptrace::resume(tid, 0);  // already dead, in all but name
    return;
  }
  stops_.on_stop(*tracee, status);
}

/// Between fork and exec the child is still a copy of us, not the user's program.
void Supervisor::on_stop_before_exec(const WaitStatus& status) {
  const auto* event = std::get_if<EventStop>(&status);
  if (event != nullptr && event->event == Event::exec) {
    root_execed_ = true;
    const auto process = lifecycle_.add_process(run_.root, nullptr);
    process->profiled = !ptrace::runs_32_bit_code(run_.root);
    if (!process->profiled) {
      core::log_note("'{}' is a 32-bit program: it runs, but is not profiled",
                     options_.command.front());
    }
    stops_.begin_program(run_.root, process, false);
  } else if (std::holds_alternative<GroupStop>(status)) {
    (void)ptrace::listen(run_.root);
  } else {
    const auto* signal = std::get_if<SignalDelivery>(&status);
    (void)ptrace::resume(run_.root, signal != nullptr ? signal->signal : 0);
  }
}

void Supervisor::fill(core::RunFacts& facts) const {
  facts.launched = run_.launched;
  facts.pid = run_.root;
  facts.processes = lifecycle_.tracees().processes_seen();
  facts.threads = lifecycle_.tracees().threads_seen();
  fill_cost(facts);
  if (instrument_ != nullptr) {
    instrument_->fill(facts);
  }
  facts.losses.ticks_while_stop_in_flight = timer_.counts().while_in_flight;
  facts.losses.samples_dropped = outbox_.dropped();
  facts.losses.blocked_before_stop = sampler_.counts().blocked_before_stop;
  facts.losses.unfollowed_processes = lifecycle_.unfollowed();
  facts.losses.waited_for_cpu = sampler_.counts().waited_for_cpu;
  if (!root_end_) {
    return;
  }
  if (const auto* exited = std::get_if<Exited>(&*root_end_)) {
    facts.end = core::RunEnd::target_exited;
    facts.exit_status = exited->code;
  } else if (const auto* killed = std::get_if<Killed>(&*root_end_)) {
    facts.end = core::RunEnd::target_killed;
    facts.exit_signal = killed->signal;
  }
}

void Supervisor::fill_cost(core::RunFacts& facts) const {
  const TickCounts& ticks = timer_.counts();
  facts.cost.stops = meter_.stops();
  facts.cost.stopped = meter_.stopped();
  facts.cost.longest_stop = meter_.longest();
  // What the root is told of itself and its children at its end includes their exits, which for
  // short programs is much. From then on it was watched, if it was launched and nothing delayed us.
  const bool is_whole = options_.timer.delay == core::Duration{} && !options_.is_in_parts;
  facts.cost.target_cpu =
      std::max(core::Duration{ticks.target_cpu}, is_whole ? root_cpu_ : core::Duration{});
  facts.cost.counting = meter_.counting();
  facts.cost.overhead_percent = meter_.percent_of(facts.cost.target_cpu);
  facts.cost.budget_percent = options_.timer.overhead_percent;
  facts.cost.requested_interval = options_.timer.interval;
  if (ticks.ticks > 0) {
    facts.cost.mean_interval =
        core::Duration{ticks.ticking / static_cast<std::int64_t>(ticks.ticks.load())};
  }
}

}  // namespace sp::supervisor
