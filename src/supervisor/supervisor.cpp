#include "supervisor/supervisor.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/log.h"
#include "supervisor/attach.h"
#include "supervisor/proc_files.h"
#include "supervisor/refusal.h"

namespace sp::supervisor {
namespace {

using std::chrono::milliseconds;

/// How long after an interrupt of ours the target may take to show that it got one too.
constexpr core::Duration kInterruptGrace = milliseconds(300);
/// How long a SIGSTOP of ours may be in flight after the run before it is taken back.
constexpr core::Duration kStopGrace = milliseconds(1000);
constexpr core::Duration kSuspendGrace = milliseconds(300);

std::uint64_t start_time_of(pid_t pid) {
  const auto stat = read_stat(pid);
  return stat ? stat->start_time : 0;
}

}  // namespace

Supervisor::Supervisor(SupervisorOptions options, Guardian& guardian,
                       core::Channel<core::StopEvent>& events,
                       core::Channel<core::Request>& requests)
    : options_(std::move(options)),
      guardian_(guardian),
      requests_(requests),
      outbox_(events),
      timer_(options_.timer, slots_, meter_, wishes_, doorbell_, events),
      sampler_(options_.sampler, outbox_) {
  if (options_.exact) {
    exact_.emplace(*options_.exact, outbox_, guardian_);
  }
}

tl::expected<void, StartFailure> Supervisor::prepare() {
  // A child that is not to be followed has to be rid of its parent's breakpoints all the same.
  const ptrace::FollowOptions follow{options_.follow_forks || exact_, exact_.has_value()};
  ptrace::bind_to_this_thread();
  doorbell_.belongs_to_this_thread();
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
  wishes_.heartbeat = true;
  while (stops_in_flight() && core::Clock::now() < deadline) {
    one_round(true);
  }
  cancel_stops_in_flight();
  if (exact_) {
    wait_for_detaching();
  }
  outbox_.close();
}

void Supervisor::serve(const std::function<bool()>& finished) {
  wishes_.heartbeat = true;
  while (!finished()) {
    one_round(true);
  }
}

void Supervisor::one_round(bool block) {
  if (doorbell_.taken()) {
    serve_wishes();
    if (over_ && !releasing_) {
      return;  // where every thread sleeps no report would end the wait
    }
  }
  outbox_.flush();
  const auto report = exact_ ? ptrace::watch_any(block) : ptrace::wait_any(block);
  if (!report) {
    // ECHILD: nothing is left. Somebody rings while we wait for more than children.
    over_ = true;
    if (releasing_) {
      ::usleep(1000);
    }
    return;
  }
  if (*report) {
    reported_at_ = core::Clock::now();
    on_report(**report);
  }
}

void Supervisor::serve_wishes() {
  if (wishes_.snapshots.exchange(0) > 0 && !releasing_) {
    tell_names();
    send_all_counts();
    outbox_.deliver({{}, {}, core::Clock::now(), core::SnapshotWanted{}});
  }
  if (wishes_.interrupts_wanted.exchange(false)) {
    interrupt_wanted_slots();
  }
  if (wishes_.requests.exchange(false)) {
    serve_requests();
  }
  if (wishes_.time_is_up) {
    over_ = true;
  }
  if (wishes_.terminate && !interrupted_at_) {
    // Sent to the whole process group it ends the target too: give that a moment to show.
    interrupted_at_ = core::Clock::now();
    wishes_.heartbeat = true;
  }
  serve_interrupts();
  if (wishes_.suspend) {
    suspend_with_target();
  }
}

void Supervisor::serve_interrupts() {
  const int interrupts = wishes_.interrupts;
  if (interrupts > interrupts_served_) {
    interrupts_served_ = interrupts;
    if (!child_ || interrupts > 1) {
      over_ = true;
      return;
    }
    interrupted_at_ = core::Clock::now();
    wishes_.heartbeat = true;
  }
  if (!interrupted_at_ || waits_for_target_) {
    return;
  }
  if (!child_) {
    over_ = true;
    return;
  }
  if (!wishes_.terminate && target_saw_interrupt_ + kInterruptGrace > *interrupted_at_) {
    // Ctrl-C in a terminal: the target has it too and decides; we wait for it and then write.
    waits_for_target_ = true;
    wishes_.heartbeat = false;
    core::log_detail("interrupted: waiting for the target to end; once more detaches");
    return;
  }
  if (core::Clock::now() > *interrupted_at_ + kInterruptGrace) {
    over_ = true;  // it was meant for us alone: let the target go and write
  }
}

void Supervisor::serve_requests() {
  while (const auto request = requests_.try_pop()) {
    if (const auto* deeper = std::get_if<core::CopyDeeper>(&*request)) {
      constexpr std::size_t kDeepest = std::size_t{1} << 20U;
      Tracee* tracee = tracees_.find(deeper->thread.tid);
      if (tracee != nullptr && tracee->id == deeper->thread) {
        tracee->stack_bytes = std::min(tracee->stack_bytes * 2, kDeepest);
      }
    } else if (const auto* blocked = std::get_if<core::StopBlocked>(&*request)) {
      Tracee* tracee = tracees_.find(blocked->thread.tid);
      if (tracee != nullptr && tracee->id == blocked->thread && tracee->slot != nullptr &&
          tracee->slot->state == SlotState::idle && !releasing_) {
        tracee->blocked_wait = blocked->wait_id;
        tracee->slot->scheduled_by_us = true;
        (void)ptrace::interrupt(tracee->id.tid);
      }
    }
  }
}

void Supervisor::suspend_with_target() {
  const core::TimePoint now = core::Clock::now();
  if (!child_) {
    wishes_.suspend = false;
    core::log_note("not stopping: the target would hang with us; Ctrl-C detaches");
    return;
  }
  if (!suspend_asked_at_) {
    suspend_asked_at_ = now;
    wishes_.heartbeat = true;
  }
  const Tracee* root = tracees_.find(root_);
  const bool stopped = root != nullptr && root->group_stopped;
  if (!stopped && now < *suspend_asked_at_ + kSuspendGrace) {
    return;  // looked at again when the bell rings
  }
  suspend_asked_at_.reset();
  wishes_.suspend = false;
  wishes_.heartbeat = interrupted_at_.has_value() && !waits_for_target_;
  if (stopped) {
    // The shell waits for us, not for the target: it must see a stopped job.
    ::kill(::getpid(), SIGSTOP);
  }
}

void Supervisor::interrupt_wanted_slots() {
  for (const auto& slot : timer_.take_interrupts()) {
    const Tracee* tracee = tracees_.find(slot->thread.tid);
    slot->asked_at = core::Clock::now().time_since_epoch().count();
    if (tracee == nullptr || tracee->slot != slot || !ptrace::interrupt(slot->thread.tid)) {
      settle(*slot, SlotState::idle);
    }
  }
}

void Supervisor::begin_release() {
  if (releasing_) {
    return;
  }
  timer_.pause();
  releasing_ = true;
  tell_names();
  if (exact_) {
    send_all_counts();
    for (auto& [tid, tracee] : tracees_.all()) {
      exact_->restore(*tracee.process);
    }
  }
  for (auto& [tid, tracee] : tracees_.all()) {
    // Asked-for stops come by themselves. Others that run are stopped once, to be detached; who
    // sleeps is left alone and let go by the kernel at our end.
    if (tracee.slot != nullptr && tracee.slot->state == SlotState::asked) {
      continue;
    }
    const auto stat = read_stat(tid);
    if (stat && stat->state == 'R' && !tracee.group_stopped) {
      (void)ptrace::interrupt(tid);
    }
  }
}

/// Threads mostly name themselves after they have started.
void Supervisor::tell_names() {
  for (const auto& [tid, tracee] : tracees_.all()) {
    outbox_.deliver({tracee.process->id, tracee.id, core::Clock::now(),
                     core::ThreadStarted{read_name(tracee.process->id.pid, tid)}});
  }
}

void Supervisor::send_all_counts() {
  if (!exact_) {
    return;
  }
  for (const auto& [tid, tracee] : tracees_.all()) {
    if (tracee.process->counted != nullptr) {
      exact_->send_counts(*tracee.process, tracee.id);  // nothing the second time
    }
  }
}

/// The breakpoints are gone, but who has run into one must be put right before we end.
void Supervisor::wait_for_detaching() {
  const core::TimePoint deadline = core::Clock::now() + kStopGrace;
  const auto is_busy = [](const auto& entry) {
    const auto stat = read_stat(entry.first);
    return stat && (stat->state == 'R' || stat->state == 't') && !entry.second.group_stopped;
  };
  while (core::Clock::now() < deadline &&
         std::any_of(tracees_.all().begin(), tracees_.all().end(), is_busy)) {
    one_round(true);
  }
}

bool Supervisor::stops_in_flight() const {
  SampleSlots::List slots;
  std::uint64_t version = 0;
  slots_.refresh(slots, version);
  return std::any_of(slots.begin(), slots.end(),
                     [](const auto& slot) { return slot->state == SlotState::asked; });
}

void Supervisor::cancel_stops_in_flight() {
  SampleSlots::List slots;
  std::uint64_t version = 0;
  slots_.refresh(slots, version);
  for (const auto& slot : slots) {
    if (slot->state != SlotState::asked || !slot->by_signal) {
      continue;
    }
    // The thread sits where no signal reaches it (vfork, a hung disk). A SIGSTOP that is still
    // pending is taken back by generating SIGCONT, signal(7).
    if (!slot->guard->stopped_by_others) {
      ::kill(slot->process.pid, SIGCONT);
    }
    settle(*slot, SlotState::not_sampled);
  }
}

std::shared_ptr<TracedProcess> Supervisor::add_process(pid_t pid, core::ProcessId parent) {
  auto process = tracees_.add_process(pid);
  process->guard = guardian_.guard(pid, start_time_of(pid));
  announce(*process, parent);
  return process;
}

std::shared_ptr<TracedProcess> Supervisor::exec_process(
    const std::shared_ptr<TracedProcess>& before) {
  auto process = tracees_.exec_process(before->id.pid);
  process->guard = guardian_.guard(before->id.pid, start_time_of(before->id.pid));
  announce(*process, before->id);
  return process;
}

void Supervisor::announce(const TracedProcess& process, core::ProcessId parent) {
  std::string command;
  for (const std::string& word : read_command_line(process.id.pid)) {
    command += (command.empty() ? "" : " ") + word;
  }
  outbox_.deliver(
      {process.id, {}, core::Clock::now(), core::ProcessStarted{parent, std::move(command)}});
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
