#include "supervisor/sampling/sample_timer.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "supervisor/sampling/cpu_pair.h"

namespace sp::supervisor {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr core::Duration kIdleRound = milliseconds(10);
/// How long before a tick of the ticker's the timer looks at the threads. It may take this long to
/// wake up.
constexpr core::Duration kLead = microseconds(100);
/// A stop takes a tenth of it.
constexpr core::Duration kLongestBusy = microseconds(300);

core::Duration thread_cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

SampleTimer::SampleTimer(SampleTimerOptions options, SampleSlots& slots, CostMeter& meter,
                         UserRequests& user_requests, WakeupSignal& wakeup,
                         core::Channel<core::StopEvent>& events)
    : options_(options),
      slots_(slots),
      meter_(meter),
      user_requests_(user_requests),
      wakeup_(wakeup),
      waits_(events),
      throttle_(options.interval, options.overhead_percent),
      random_(std::random_device{}()),
      interrupts_only_(options.stop_with == StopWith::interrupt),
      ticker_random_(std::random_device{}()) {}

void SampleTimer::run(const std::stop_token& stop, pid_t followed, std::vector<pid_t> avoiding) {
  ::prctl(PR_SET_NAME, "sp-timer");
  wake_up_promptly();
  CpuAffinity affinity(followed, std::move(avoiding));
  const core::TimePoint start = core::Clock::now();
  const core::TimePoint first = start + options_.delay;
  core::TimePoint next = first;
  last_tick_ = first;
  window_start_ = first;
  if (!options_.sample) {
    run_beside(stop, affinity);
    return;
  }
  core::Duration used = thread_cpu_time();
  while (!stop.stop_requested()) {
    beat(first);
    const core::TimePoint now = core::Clock::now();
    const core::Duration lead = ticker_ ? kLead : core::Duration{};
    if (now >= next - lead) {
      next = tick(now, next, affinity);
    }
    take_signals_until(std::min(next - lead, now + kIdleRound), user_requests_, wakeup_);
    if (affinity.cpus() == 1) {
      const core::Duration before = std::exchange(used, thread_cpu_time());
      throttle_.shared_cpu(used - before);
    }
  }
  ticker_.reset();
  pause();
}

/// What is due in every round.
void SampleTimer::beat(core::TimePoint first) {
  if (user_requests_.heartbeat) {
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

void SampleTimer::run_beside(const std::stop_token& stop, CpuAffinity& affinity) {
  constexpr core::Duration kRound = milliseconds(1);
  const core::TimePoint start = core::Clock::now();
  CpuPair pace(slots_, affinity);
  while (!stop.stop_requested()) {
    beat(start);
    const core::TimePoint end = core::Clock::now() + kRound;
    if (options_.follow_cpu) {
      pace.keep_until(end);
    }
    take_signals_until(end, user_requests_, wakeup_);
  }
}

void SampleTimer::pause() {
  const std::lock_guard lock(pause_mutex_);
  paused_ = true;
}

SampleSlots::List SampleTimer::take_interrupts() {
  const std::lock_guard lock(interrupts_mutex_);
  return std::exchange(interrupts_, {});
}

core::TimePoint SampleTimer::tick(core::TimePoint now, core::TimePoint planned,
                                  CpuAffinity& affinity) {
  choose_way(affinity);
  if (ticker_ && !ticker_->ticked()) {
    return planned + kLead;  // it was kept off its CPU
  }
  Slot asked;
  {
    const std::lock_guard lock(pause_mutex_);
    if (paused_) {
      return now + kIdleRound;
    }
    look_at_all(now, affinity.cpus());
    place(affinity);
    not_counted_ += running_.size();
    if (!running_.empty() && !ticker_) {
      asked = running_[random_() % running_.size()].slot;
      ask(asked, now);
    }
  }
  const core::TimePoint next = plan(planned, now);
  if (ticker_) {
    ticker_->load(next, cpu_to_tick_on());
  } else if (ticking_there_ && !running_.empty()) {
    ticker_.emplace([this](int cpu) { return ask_from_ticker(cpu); }, next, cpu_to_tick_on());
    return next;
  }
  const bool stops = asked != nullptr || (ticker_ && any_on_cpu() != nullptr);
  if (stops && affinity.keeps_busy()) {
    be_busy_during_stop(std::move(asked), (ticker_ ? planned : now) + kLongestBusy);
    // Where threads take turns, short turns would be left out more often than long ones.
    const bool slept = slept_before_stop_.exchange(false);
    again_ = slept && !again_ && !ticker_;
    if (again_) {
      return core::Clock::now();
    }
  }
  return next;
}

void SampleTimer::choose_way(const CpuAffinity& affinity) {
  ticker_gave_up_ = ticker_gave_up_ || (ticker_ && ticker_->is_kept_waiting());
  ticking_there_ = precise_ && !ticker_gave_up_ && options_.follow_cpu && affinity.cpus() > 1;
  if (!ticking_there_) {
    ticker_.reset();
  }
}

void SampleTimer::place(CpuAffinity& affinity) {
  const Running* running = any_on_cpu();
  if (!options_.follow_cpu || running == nullptr) {
    return;
  }
  if (busy_cpus_ == 1) {
    affinity.follow(running->cpu, running->slot->thread.tid);
  } else {
    affinity.visit();
  }
}

core::TimePoint SampleTimer::plan(core::TimePoint planned, core::TimePoint now) {
  // Each CPU that the target uses is ticked on once in the interval on average.
  const core::Duration mean = throttle_.interval(meter_.per_stop(), own_share_ + others_share_) /
                              static_cast<std::int64_t>(busy_cpus_);
  // Planned from the plan, so that a late wake-up does not lower the rate; a long delay (we were
  // stopped) is not made up for.
  const core::TimePoint next = std::max(planned + jittered(mean), now - 2 * mean);
  return ticking_there_ ? std::max(next, now + 3 * kLead) : next;
}

const SampleTimer::Running* SampleTimer::any_on_cpu() {
  const auto& those = running_.empty() ? stopping_ : running_;
  return those.empty() ? nullptr : &those[random_() % those.size()];
}

int SampleTimer::cpu_to_tick_on() {
  const Running* running = any_on_cpu();
  return running != nullptr ? running->cpu : ticker_->cpu();
}

void SampleTimer::be_busy_during_stop(Slot asked, core::TimePoint deadline) {
  while (core::Clock::now() < deadline) {
    if (asked == nullptr) {
      if (!ticker_->ticked()) {
        continue;
      }
      const std::lock_guard lock(pause_mutex_);
      asked = std::exchange(asked_by_ticker_, nullptr);
    }
    if (asked == nullptr || asked->state != SlotState::asked) {
      return;
    }
  }
}

std::optional<int> SampleTimer::ask_from_ticker(int cpu) {
  const std::lock_guard lock(pause_mutex_);
  const auto others = look_from(cpu);
  // Of the threads on this CPU one runs and the others wait for their turn on it: each has the CPU
  // for the same part of the time, so each is as likely to be sampled.
  if (paused_ || here_.empty()) {
    return paused_ ? std::nullopt : others;
  }
  asked_by_ticker_ = here_[ticker_random_() % here_.size()];
  ask(asked_by_ticker_, core::Clock::now());
  return std::nullopt;
}

void SampleTimer::sample_was_taken(bool at_system_call, bool slept) {
  constexpr int kLooked = 64;
  constexpr int kLookedWhenPrecise = 256;
  slept_before_stop_ = slept;
  ++looked_;
  at_system_call_ += at_system_call ? 1 : 0;
  // The samples until then lean towards the calls: where it is plain, fewer of them will do.
  const bool is_plain = !precise_ && looked_ >= kLooked / 4 && at_system_call_ * 4 > looked_;
  if (looked_ < (precise_ ? kLookedWhenPrecise : kLooked) && !is_plain) {
    return;
  }
  if (!precise_) {
    precise_ = at_system_call_ * 10 > looked_;
  } else if (at_system_call_ * 50 < looked_ && !came_back_) {
    // It was a phase, perhaps. Where it comes again we do not go to and fro.
    came_back_ = true;
    precise_ = false;
  }
  looked_ = 0;
  at_system_call_ = 0;
}

void SampleTimer::ask(const Slot& slot, core::TimePoint since) {
  const bool by_signal = !interrupts_only_ && slot->guard != nullptr;
  if (slot->state != SlotState::idle) {
    return;
  }
  if (options_.wall) {
    slot->ticks = std::max<std::uint64_t>(std::exchange(not_counted_, 0), 1);
  }
  slot->asked_at = since.time_since_epoch().count();
  slot->by_signal = by_signal;
  if (by_signal) {
    // Counted before it is sent: a death of ours in between must find it counted.
    ++slot->guard->stops_in_flight;
  }
  SlotState expected = SlotState::idle;
  if (!slot->state.compare_exchange_strong(expected, SlotState::asked)) {
    if (by_signal) {
      --slot->guard->stops_in_flight;
    }
    return;
  }
  if (!by_signal) {
    {
      const std::lock_guard lock(interrupts_mutex_);
      interrupts_.push_back(slot);
    }
    user_requests_.interrupts_wanted = true;
    wakeup_.send();
    return;
  }
  if (::syscall(SYS_tgkill, slot->process.pid, slot->thread.tid, SIGSTOP) != 0) {
    if (errno == EPERM) {
      // We may trace it but not signal it (another user's, and no CAP_KILL).
      interrupts_only_ = true;
    }
    expected = SlotState::asked;
    if (slot->state.compare_exchange_strong(expected, SlotState::idle)) {
      --slot->guard->stops_in_flight;
    }
  }
}

core::Duration SampleTimer::jittered(core::Duration mean) {
  // Uniform in [0, 2U): the mean is U and no period of the target's can stay in step with it.
  std::uniform_int_distribution<std::int64_t> gap(0,
                                                  std::max<std::int64_t>(2 * mean.count() - 1, 0));
  return core::Duration{gap(random_)};
}

}  // namespace sp::supervisor
