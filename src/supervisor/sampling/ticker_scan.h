#pragma once

#include <optional>
#include <random>

#include "supervisor/sampling/thread_scan.h"
#include "supervisor/tracees/sample_slot.h"

namespace sp::supervisor {

/// Finds out at a tick of the Ticker which threads wait for the CPU that it ticks on. Runs on the
/// ticker's thread with the StopRequester's lock held.
class TickerScan {
 public:
  explicit TickerScan(ThreadScan& last) : last_(last), random_(std::random_device{}()) {}

  /// Looks for idle threads that are on `cpu`. Returns another CPU on which one runs, if it met
  /// one.
  std::optional<int> scan(int cpu);

  [[nodiscard]] bool found_any() const { return !here_.empty(); }
  /// One of those found, at random. There must be one.
  [[nodiscard]] const ThreadScan::Slot& any() { return here_[random_() % here_.size()]; }

 private:
  ThreadScan& last_;  // the timer's last scan
  std::mt19937_64 random_;
  SampleSlots::List here_;
};

}  // namespace sp::supervisor
