#include "supervisor/sampling/sample_timer.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace sp::supervisor {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr core::Duration kIdleRound = milliseconds(10);
constexpr core::Duration kSoon = milliseconds(1);
/// A stop takes a tenth of it.
constexpr core::Duration kLongestBusy = microseconds(300);

pid_t own_tid() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

}  // namespace

SampleTimer::SampleTimer(SampleTimerOptions options, SampleSlots& slots, CostMeter& meter,
                         UserRequests& user_requests, WakeupSignal& wakeup,
                         core::Channel<core::StopEvent>& events)
    : options_(options),
      slots_(slots),
      dense_stops_(meter),
      user_requests_(user_requests),
      wakeup_(wakeup),
      requester_(options.stop_with, options.wall, user_requests, wakeup),
      scan_(slots, options.interval, options.wall, events, counts_),
      plan_(options.interval, options.overhead_percent, !options.wall, meter, counts_),
      ticker_scan_(scan_) {}

void SampleTimer::run(const std::stop_token& stop, pid_t followed, std::vector<pid_t> avoiding) {
  ::prctl(PR_SET_NAME, "sp-timer");
  const std::stop_callback at_end(stop, [tid = own_tid()] { WakeupSignal::interrupt(tid); });
  wake_up_promptly();
  CpuAffinity affinity(followed, std::move(avoiding));
  const core::TimePoint start = core::Clock::now();
  const core::TimePoint first = start + options_.delay;
  core::TimePoint next = first;
  plan_.begin(first, followed);
  if (!options_.sample) {
    run_without_sampling(stop, affinity);
    return;
  }
  core::Duration used = core::thread_cpu_time();
  CpuPair pair(slots_, affinity);
  while (!stop.stop_requested()) {
    heartbeat(first);
    const core::TimePoint now = core::Clock::now();
    const core::Duration lead = ticker_ ? kTickerLead : core::Duration{};
    if (now >= next - lead) {
      next = tick(now, next, affinity);
    }
    core::TimePoint until = std::min(next - lead, now + (user_requests_.soon ? kSoon : kIdleRound));
    if (options_.holds_cpus && options_.follow_cpu && affinity.cpus() > 1 && !filler_.fills() &&
        dense_stops_.look(now)) {
      until = std::min(until, now + DenseStops::kRound);
      pair.hold_until(until);
    }
    take_signals_until(until, user_requests_, wakeup_);
    if (affinity.cpus() == 1) {
      const core::Duration before = std::exchange(used, core::thread_cpu_time());
      plan_.shared_cpu(used - before);
    }
  }
  ticker_.reset();
  pause();
}

void SampleTimer::heartbeat(core::TimePoint first) {
  if (user_requests_.heartbeat || user_requests_.rounds || user_requests_.holds_crashed) {
    wakeup_.send();
  } else {
    wakeup_.resend();
  }
  if (options_.duration > core::Duration{} && core::Clock::now() >= first + options_.duration &&
      !user_requests_.time_is_up) {
    user_requests_.time_is_up = true;
    wakeup_.send();
  }
}

void SampleTimer::run_without_sampling(const std::stop_token& stop, CpuAffinity& affinity) {
  const core::TimePoint start = core::Clock::now();
  CpuPair pair(slots_, affinity);
  while (!stop.stop_requested()) {
    heartbeat(start);
    const core::TimePoint end = core::Clock::now() + DenseStops::kRound;
    if (options_.follow_cpu) {
      pair.hold_until(end);
    }
    take_signals_until(end, user_requests_, wakeup_);
  }
}

core::TimePoint SampleTimer::tick(core::TimePoint now, core::TimePoint planned,
                                  CpuAffinity& affinity) {
  choose_requester(affinity);
  if (ticker_ && !ticker_->ticked()) {
    return planned + kTickerLead;  // it was kept off its CPU
  }
  Slot asked;
  {
    const auto lock = requester_.lock();
    if (requester_.is_paused()) {
      filler_.pause();
      affinity.spread();  // the results are written on whatever CPU is free
      return now + kIdleRound;
    }
    plan_.account(now, scan_.scan(now), affinity.cpus(), again_);
    place(now, affinity);
    requester_.add_ticks(scan_.running().size());
    if (!scan_.running().empty() && !ticker_) {
      asked = scan_.any_running();
      requester_.request(asked, now, plan_.weight());
    }
  }
  const core::TimePoint next = plan_.next(planned, now, scan_.busy_cpus(), ticks_on_target_cpu_);
  if (ticker_) {
    ticker_->arm(next, cpu_to_tick_on());
  } else if (ticks_on_target_cpu_ && !scan_.running().empty()) {
    ticker_.emplace([this](int cpu) { return request_from_ticker(cpu); }, next, cpu_to_tick_on());
    return next;
  }
  const bool stops = asked != nullptr || (ticker_ && scan_.any_on_cpu() != nullptr);
  if (stops && affinity.keeps_busy()) {
    be_busy_during_stop(std::move(asked), (ticker_ ? planned : now) + kLongestBusy);
    // Where threads take turns, short turns would be missed more often than long ones.
    const bool slept = slept_before_stop_.exchange(false);
    again_ = slept && !again_ && !ticker_;
    if (again_) {
      return core::Clock::now();
    }
  }
  return next;
}

void SampleTimer::choose_requester(const CpuAffinity& affinity) {
  ticker_gave_up_ = ticker_gave_up_ || (ticker_ && ticker_->is_kept_waiting());
  ticks_on_target_cpu_ =
      bias_.is_high() && !ticker_gave_up_ && options_.follow_cpu && affinity.cpus() > 1;
  if (!ticks_on_target_cpu_) {
    ticker_.reset();
  }
}

void SampleTimer::place(core::TimePoint now, CpuAffinity& affinity) {
  const bool fills = filler_.look(now, scan_.running().size(), scan_.changes());
  if (!fills) {
    filler_.pause();
  }
  const ThreadScan::Running* running = scan_.any_on_cpu();
  if (!options_.follow_cpu || running == nullptr) {
    return;
  }
  if (requester_.uses_interrupts() || minds_sigstop(*running->slot)) {
    affinity.server_interrupts();
  }
  if (filler_.is_in_the_way(running->cpu)) {
    if (scan_.busy_cpus() == 1) {
      affinity.follow(running->cpu, running->slot->thread.tid);
    } else {
      affinity.spread();
    }
  }
  if (fills && affinity.keeps_busy()) {
    filler_.fill(now, affinity.kept_busy());
  } else {
    filler_.pause();
  }
}

int SampleTimer::cpu_to_tick_on() {
  const ThreadScan::Running* running = scan_.any_on_cpu();
  return running != nullptr ? running->cpu : ticker_->cpu();
}

void SampleTimer::be_busy_during_stop(Slot asked, core::TimePoint deadline) {
  while (core::Clock::now() < deadline) {
    if (asked == nullptr) {
      if (!ticker_->ticked()) {
        continue;
      }
      const auto lock = requester_.lock();
      asked = std::exchange(asked_by_ticker_, nullptr);
    }
    if (asked == nullptr || asked->state != SlotState::stop_pending) {
      return;
    }
  }
}

std::optional<int> SampleTimer::request_from_ticker(int cpu) {
  const auto lock = requester_.lock();
  const auto other = ticker_scan_.scan(cpu);
  // One of the threads on this CPU runs and the others wait for their turn. Each has the CPU for
  // the same share of the time, so each is sampled with the same probability.
  if (requester_.is_paused() || !ticker_scan_.found_any()) {
    return requester_.is_paused() ? std::nullopt : other;
  }
  asked_by_ticker_ = ticker_scan_.any();
  requester_.request(asked_by_ticker_, core::Clock::now());
  return std::nullopt;
}

void SampleTimer::sample_was_taken(bool at_system_call, bool slept) {
  slept_before_stop_ = slept;
  bias_.add_sample(at_system_call);
}

}  // namespace sp::supervisor
