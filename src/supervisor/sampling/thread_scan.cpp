#include "supervisor/sampling/thread_scan.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

/// From then on a stop that was requested may have been discarded.
constexpr core::Duration kLongAwaited = std::chrono::milliseconds(20);

}  // namespace

ThreadScan::ThreadScan(SampleSlots& slots, core::Duration interval, bool wall,
                       core::Channel<core::StopEvent>& events, TickCounts& counts)
    : slots_(slots),
      // Reading a stat file takes about 1 us.
      most_scanned_(static_cast<std::size_t>(
          std::clamp<std::int64_t>(interval / std::chrono::microseconds(20), 8, 256))),
      wall_(wall),
      blocked_(events),
      counts_(counts),
      random_(std::random_device{}()) {}

ThreadScan::Seen ThreadScan::scan(core::TimePoint now) {
  refresh_list(now);
  Seen seen{std::min(most_scanned_, list_.size()), list_.size(), 0, false};
  // A window at a random place gives every thread the same chance: fewer samples, no bias.
  const std::size_t first = seen.scanned < list_.size() ? random_() % list_.size() : 0;
  running_.clear();
  stopping_.clear();
  for (std::size_t i = 0; i < seen.scanned; ++i) {
    seen.report_was_dropped |= !scan_thread(list_[(first + i) % list_.size()]);
  }
  std::set<int> busy;
  const ProcessCpu* last = nullptr;
  for (const auto* const those : {&running_, &stopping_}) {
    for (const auto& [slot, cpu] : *those) {
      busy.insert(cpu);
      if (slot->cpu != nullptr && std::exchange(last, slot->cpu.get()) != slot->cpu.get()) {
        counts_.target_cpu += slot->cpu->take().count();
      }
    }
  }
  busy_cpus_ = std::max<std::size_t>(busy.size(), 1);
  seen.on_cpu = running_.size() + stopping_.size();
  return seen;
}

void ThreadScan::refresh_list(core::TimePoint now) {
  const auto before = list_version_;
  SampleSlots::List old;
  if (wall_) {
    old = list_;
  }
  slots_.refresh(list_, list_version_);
  if (wall_ && before != list_version_) {
    for (const auto& slot : old) {
      if (slot->state == SlotState::gone) {
        blocked_.ended(*slot, now);
      }
    }
  }
}

bool ThreadScan::scan_thread(const Slot& slot) {
  const SlotState state = slot->state;
  if (state == SlotState::gone || state == SlotState::not_sampled) {
    return true;
  }
  std::array<char, 1024> buffer;
  const auto stat = parse_stat(reread(slot->stat, *slot, "stat", buffer));
  if (!stat) {
    return true;
  }
  if (state == SlotState::stop_pending) {
    ++counts_.while_in_flight;
    const auto asked_at = core::Duration{slot->stop_requested_at.load()};
    if (core::Clock::now().time_since_epoch() - asked_at > kLongAwaited) {
      settle_discarded_stop(*slot);
    }
    slot->ticks += wall_ ? 1 : 0;
    stopping_.push_back({slot, stat->processor});
    return true;
  }
  if (stat->state == 'R') {
    if (!runs_by_itself(*slot)) {
      return true;
    }
    running_.push_back({slot, stat->processor});
    if (blocked_.is_followed(*slot)) {
      blocked_.woke(*slot, core::Clock::now());
    }
    return true;
  }
  const bool is_blocked = wall_ && (stat->state == 'S' || stat->state == 'D');
  return !is_blocked || blocked_.found_blocked(*slot, core::Clock::now());
}

const ThreadScan::Running* ThreadScan::any_on_cpu() {
  const auto& those = running_.empty() ? stopping_ : running_;
  return those.empty() ? nullptr : &those[random_() % those.size()];
}

bool ThreadScan::runs_by_itself(SampleSlot& slot) {
  return !slot.stepped && !blocked_.was_woken_by_us(slot);
}

}  // namespace sp::supervisor
