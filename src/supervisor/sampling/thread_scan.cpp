// How the timer looks at the threads, and what it learns from that of the target's CPU time and of
// ours: a part of SampleTimer.
#include <time.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "supervisor/linux/proc_files.h"
#include "supervisor/sampling/sample_timer.h"

namespace sp::supervisor {
namespace {

using std::chrono::microseconds;

constexpr core::Duration kWindow = std::chrono::milliseconds(100);

core::Duration own_cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// A thread that is on a CPU, or ready to be, is so of its own accord.
bool runs_by_itself(SampleSlot& slot) {
  return !slot.stepped && !BlockedThreads::is_awake_for_us(slot);
}

}  // namespace

void SampleTimer::look_at_all(core::TimePoint now, int cpus) {
  const auto before = list_version_;
  SampleSlots::List old;
  if (options_.wall) {
    old = list_;
  }
  slots_.refresh(list_, list_version_);
  if (options_.wall && before != list_version_) {
    for (const auto& slot : old) {
      if (slot->state == SlotState::gone) {
        waits_.report(*slot, now);
      }
    }
  }
  // A look takes about 1 us. So of many threads a window is looked at, every thread with the same
  // chance: fewer samples, no bias.
  const auto budget = static_cast<std::size_t>(
      std::clamp<std::int64_t>(options_.interval / microseconds(20), 8, 256));
  const std::size_t looks = std::min(budget, list_.size());
  const std::size_t first = looks < list_.size() ? random_() % list_.size() : 0;
  running_.clear();
  stopping_.clear();
  for (std::size_t i = 0; i < looks; ++i) {
    const auto& slot = list_[(first + i) % list_.size()];
    look(*slot, slot);
  }
  std::set<int> busy;
  for (const Running& running : running_) {
    busy.insert(running.cpu);
  }
  for (const Running& stopping : stopping_) {
    busy.insert(stopping.cpu);
  }
  busy_cpus_ = std::max<std::size_t>(busy.size(), 1);
  account(now, looks, list_.size(), cpus);
}

void SampleTimer::look(SampleSlot& slot, const Slot& shared) {
  const SlotState state = slot.state;
  if (state == SlotState::gone || state == SlotState::not_sampled) {
    return;
  }
  std::array<char, 1024> buffer;
  const auto stat = parse_stat(reread(slot.stat, slot, "stat", buffer));
  if (!stat) {
    return;
  }
  if (state == SlotState::asked) {
    ++counts_.while_in_flight;
    slot.ticks += options_.wall ? 1 : 0;
    stopping_.push_back({shared, stat->processor});
    return;
  }
  if (stat->state == 'R') {
    if (!runs_by_itself(slot)) {
      return;
    }
    running_.push_back({shared, stat->processor});
    if (slot.wait_id != 0) {
      waits_.woke(slot, core::Clock::now());
    }
  } else if (options_.wall && (stat->state == 'S' || stat->state == 'D') &&
             !waits_.look(slot, core::Clock::now())) {
    dropped_ = true;
  }
}

std::optional<int> SampleTimer::look_from(int cpu) {
  // It takes the target's time, so few are looked at: those that ran a moment ago, then others.
  constexpr std::size_t kLooks = 16;
  std::optional<int> other;
  here_.clear();
  const auto look_again = [&](const Slot& slot) {
    std::array<char, 1024> buffer;
    if (slot->state != SlotState::idle) {
      return;
    }
    const auto stat = parse_stat(reread(slot->stat, *slot, "stat", buffer));
    if (stat && stat->state == 'R' && runs_by_itself(*slot)) {
      if (stat->processor == cpu) {
        here_.push_back(slot);
      } else {
        other = stat->processor;
      }
    }
  };
  const auto look_at_some = [&](std::size_t looks, std::size_t of, const auto& slot_at) {
    const std::size_t first = looks > 0 ? ticker_random_() % of : 0;
    for (std::size_t i = 0; i < looks; ++i) {
      look_again(slot_at((first + i) % of));
    }
  };
  const std::size_t known = std::min(kLooks, running_.size());
  look_at_some(known, running_.size(), [&](std::size_t i) { return running_[i].slot; });
  if (here_.empty()) {
    look_at_some(std::min(kLooks - known, list_.size()), list_.size(),
                 [&](std::size_t i) { return list_[i]; });
  }
  return other;
}

void SampleTimer::account(core::TimePoint now, std::size_t looked, std::size_t of, int cpus) {
  const core::Duration gap = now - last_tick_;
  last_tick_ = now;
  ++counts_.ticks;
  counts_.ticking += gap.count();
  const double running =
      looked == 0 ? 0
                  : std::min<double>(static_cast<double>(running_.size() + stopping_.size()) *
                                         static_cast<double>(of) / static_cast<double>(looked),
                                     cpus);
  counts_.target_cpu += static_cast<std::int64_t>(running * static_cast<double>(gap.count()));
  running_now_ += (running - running_now_) / 16;
  if (now - window_start_ < kWindow) {
    return;
  }
  // Where the target could use every CPU, what we compute beside its stops is taken from it too.
  const core::Duration own = own_cpu_time();
  const double used = static_cast<double>((own - own_cpu_at_window_).count()) /
                      (static_cast<double>((now - window_start_).count()) * cpus);
  own_share_ = running_now_ > cpus - 0.5 ? used : 0;
  own_cpu_at_window_ = own;
  window_start_ = now;
  if (dropped_.exchange(false)) {
    throttle_.samples_were_dropped();
  } else {
    throttle_.window_was_clean();
  }
}

}  // namespace sp::supervisor
