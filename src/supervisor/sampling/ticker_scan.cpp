#include "supervisor/sampling/ticker_scan.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {

std::optional<int> TickerScan::scan(int cpu) {
  // This runs in the target's time, so it scans few threads: those that ran a moment ago, then
  // others.
  constexpr std::size_t kMost = 16;
  std::optional<int> other;
  here_.clear();
  const auto scan_thread = [&](const ThreadScan::Slot& slot) {
    std::array<char, 1024> buffer;
    if (slot->state != SlotState::idle) {
      return;
    }
    const auto stat = parse_stat(reread(slot->stat, *slot, "stat", buffer));
    if (stat && stat->state == 'R' && last_.runs_by_itself(*slot)) {
      if (stat->processor == cpu) {
        here_.push_back(slot);
      } else {
        other = stat->processor;
      }
    }
  };
  const auto scan_some = [&](std::size_t count, std::size_t of, const auto& slot_at) {
    const std::size_t first = count > 0 ? random_() % of : 0;
    for (std::size_t i = 0; i < count; ++i) {
      scan_thread(slot_at((first + i) % of));
    }
  };
  const auto& running = last_.running();
  const auto& threads = last_.threads();
  const std::size_t ran = std::min(kMost, running.size());
  scan_some(ran, running.size(), [&](std::size_t i) { return running[i].slot; });
  if (here_.empty()) {
    scan_some(std::min(kMost - ran, threads.size()), threads.size(),
              [&](std::size_t i) { return threads[i]; });
  }
  return other;
}

}  // namespace sp::supervisor
