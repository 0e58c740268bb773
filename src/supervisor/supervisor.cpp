#include "supervisor/supervisor.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/log.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/startup/attach.h"
#include "supervisor/startup/refusal.h"

namespace sp::supervisor {
namespace {

using std::chrono::milliseconds;

/// How long a SIGSTOP of ours may be in flight after the run before it is taken back.
constexpr core::Duration kStopGrace = milliseconds(1000);

}  // namespace

Supervisor::Supervisor(SupervisorOptions options, Guardian& guardian,
                       core::Channel<core::StopEvent>& events,
                       core::Channel<core::Request>& requests)
    : options_(std::move(options)),
      guardian_(guardian),
      requests_(requests),
      outbox_(events),
      timer_(options_.timer, slots_, meter_, user_requests_, wakeup_, events),
      sampler_(options_.sampler, outbox_) {
  if (options_.exact) {
    exact_.emplace(*options_.exact, outbox_, guardian_);
  } else if (options_.probing) {
    probes_.emplace(*options_.probing, outbox_, guardian_, meter_, timer_);
  }
}

tl::expected<void, StartFailure> Supervisor::prepare() {
  // A child that is not to be followed has to be rid of its parent's breakpoints all the same.
  const ptrace::FollowOptions follow{options_.follow_forks || may_insert()};
  ptrace::bind_to_this_thread();
  wakeup_.target_this_thread();
  if (!options_.command.empty()) {
    auto child = LaunchedChild::fork({options_.command, options_.no_aslr});
    if (!child) {
      return tl::unexpected(StartFailure{child.error().message(), 125});
    }
    (options_.pid ? load_ : child_) = std::move(*child);
  }
  if (child_) {
    root_ = child_->pid();
    const auto seized = ptrace::seize(root_, follow);
    if (!seized) {
      return tl::unexpected(
          StartFailure{fmt::format("cannot trace the program: {}; `superprofiler doctor` says why",
                                   seized.error().message()),
                       125});
    }
    return {};
  }
  root_ = *options_.pid;
  if (runs_32_bit_code(root_)) {
    return tl::unexpected(StartFailure{explain_attach_refusal(root_, ENOTSUP), 125});
  }
  auto attached = attach_to_all_threads(root_, follow);
  if (!attached) {
    return tl::unexpected(StartFailure{explain_attach_refusal(root_, attached.error().code), 125});
  }
  attached_ = std::move(*attached);
  return {};
}

void Supervisor::begin() {
  if (child_) {
    child_->go();  // its threads are met at the exec
    return;
  }
  const auto process = add_process(root_, {});
  if (exact_ && !attached_.empty()) {
    exact_->begin_process(*process, attached_.front());
  } else if (probes_ && !attached_.empty()) {
    probes_->begin_process(*process, attached_.front(), false);
  }
  for (const pid_t tid : attached_) {
    if (tracees_.find(tid) == nullptr) {
      add_tracee(tid, root_, process);
      if (exact_) {
        (void)ptrace::interrupt(tid);  // it begins to be counted at its first stop
      }
    }
  }
  if (!attached_.empty()) {
    sampler_.send_maps(*process, {attached_.front(), 0}, core::Clock::now());
  }
  if (load_) {
    load_->go();
  }
}

void Supervisor::run() {
  wake_up_promptly();  // not before: a child would inherit it
  while (!over_) {
    one_round(true);
  }
  begin_release();
  // Stops that are on their way must have come before the events end.
  const core::TimePoint deadline = core::Clock::now() + kStopGrace;
  user_requests_.heartbeat = true;
  while (stops_in_flight() && core::Clock::now() < deadline) {
    one_round(true);
  }
  cancel_stops_in_flight();
  if (may_insert()) {
    wait_for_detaching();
  }
  outbox_.close();
}

void Supervisor::serve(const std::function<bool()>& finished) {
  user_requests_.heartbeat = true;
  while (!finished()) {
    one_round(true);
  }
}

void Supervisor::one_round(bool block) {
  if (wakeup_.taken()) {
    serve_user_requests();
    if (over_ && !releasing_) {
      return;  // where every thread sleeps no report would end the wait
    }
  }
  outbox_.flush();
  const auto report = may_insert() ? ptrace::watch_any(block) : ptrace::wait_any(block);
  if (!report) {
    // ECHILD: nothing is left. Somebody rings while we wait for more than children.
    over_ = true;
    if (releasing_) {
      origins_.clear();
      probed_origins_.clear();
      ::usleep(1000);
    }
    return;
  }
  if (*report) {
    reported_at_ = core::Clock::now();
    on_report(**report);
  }
}

void Supervisor::fill(core::RunFacts& facts) const {
  facts.launched = child_.has_value();
  facts.pid = root_;
  facts.processes = tracees_.processes_seen();
  facts.threads = tracees_.threads_seen();
  facts.cost.stops = meter_.stops();
  facts.cost.stopped = meter_.stopped();
  facts.cost.longest_stop = meter_.longest();
  const TickCounts& ticks = timer_.counts();
  facts.cost.target_cpu = core::Duration{ticks.target_cpu};
  if (ticks.target_cpu > 0) {
    facts.cost.overhead_percent = 100.0 * static_cast<double>(meter_.stopped().count()) /
                                  static_cast<double>(ticks.target_cpu);
  }
  if (exact_) {
    facts.cost.stops = exact_->stops();
    facts.cost.is_share_known = false;
  }
  if (probes_) {
    facts.probing = probes_->facts();
    facts.cost.is_share_minimum = facts.probing->cost > facts.cost.target_cpu / 3;
  }
  facts.cost.budget_percent = options_.timer.overhead_percent;
  facts.cost.requested_interval = options_.timer.interval;
  if (ticks.ticks > 0) {
    facts.cost.mean_interval =
        core::Duration{ticks.ticking / static_cast<std::int64_t>(ticks.ticks.load())};
  }
  facts.losses.ticks_while_stop_in_flight = ticks.while_in_flight;
  facts.losses.samples_dropped = outbox_.dropped();
  facts.losses.blocked_before_stop = sampler_.counts().blocked_before_stop;
  facts.losses.waited_for_cpu = sampler_.counts().waited_for_cpu;
  if (root_end_) {
    if (const auto* exited = std::get_if<Exited>(&*root_end_)) {
      facts.end = core::RunEnd::target_exited;
      facts.exit_status = exited->code;
    } else if (const auto* killed = std::get_if<Killed>(&*root_end_)) {
      facts.end = core::RunEnd::target_killed;
      facts.exit_signal = killed->signal;
    }
  }
}

}  // namespace sp::supervisor
