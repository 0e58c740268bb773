#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "core/clock.h"

namespace sp::supervisor {

/// The calling thread is woken on time: no timer slack, and the shortest slice of the scheduler's
/// (Linux 6.12), with which a thread that wakes up may take the CPU from one with a longer one.
void wake_up_promptly();

/// Asks for stops on the target's own CPU, from a thread of its own.
///
/// A stop that is asked for from another CPU arrives an interrupt later: 1 us, in virtual machines
/// 20 us. That is no matter to a program that computes; but one that makes a system call every few
/// microseconds is in its next call by then, and all its samples would fall there. A thread that
/// wakes up on the target's CPU takes the target off it at whatever instruction it was. That is
/// right, and costs the target more.
///
/// Who is to stop is found out at the tick: where threads take turns, one that ran a moment before
/// may have gone to sleep. What runs on another CPU by then is followed there: left out, the
/// beginnings of turns would be missing, and short turns consist of little else.
///
/// When and where the next tick is to be is told one tick ahead, because to tell it to a thread
/// that sleeps would wake it up on that CPU too.
class Ticker {
 public:
  /// Asks for a stop of what runs on `cpu`, or else says on which other CPU something runs that may
  /// be asked. Called on the ticker's thread, on that CPU.
  using Ask = std::function<std::optional<int>(int cpu)>;

  /// The first tick is at `first` on `cpu`.
  Ticker(Ask ask, core::TimePoint first, int cpu);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  /// The tick after the coming one is at `at` on `cpu`. To be called once for each tick, after the
  /// one before it.
  void arm(core::TimePoint at, int cpu);

  /// Ticks so far. Any thread.
  [[nodiscard]] std::uint64_t ticks() const { return ticks_; }
  /// The tick that came after the last arm() is over. Any thread.
  [[nodiscard]] bool ticked() const { return ticks_ >= loads_; }
  /// More than half of the last ticks came so late that they asked for nothing: here a thread that
  /// wakes up has to wait for its turn (Linux 6.6 to 6.11 are such), and what it would see then is
  /// never the thread that held the CPU.
  [[nodiscard]] bool is_kept_waiting() const { return kept_waiting_; }
  /// The CPU of the last tick, or of the coming one. Any thread.
  [[nodiscard]] int cpu() const { return cpu_; }

 private:
  struct Plan {
    core::TimePoint at;
    int cpu = 0;
  };

  void run(Plan plan);
  /// The calling thread is the ticker's.
  void move_to(int cpu);
  /// One tick: goes after the target where that runs on another CPU.
  void tick(Plan& plan);
  /// Whether this is too late for a tick that was due at `due`; notes which.
  bool is_late(core::TimePoint due);

  Ask ask_;
  std::atomic<int> cpu_;
  std::atomic<std::uint64_t> loads_{0};
  std::atomic<std::uint64_t> ticks_{0};
  std::atomic<bool> kept_waiting_{false};
  int noted_ = 0;  // these two: the ticker's thread's
  int late_ = 0;
  std::mutex mutex_;  // for those below
  std::condition_variable changed_;
  Plan next_;
  bool loaded_ = false;
  bool waits_for_load_ = false;
  bool over_ = false;
  std::thread thread_;  // the last: it uses the others
};

}  // namespace sp::supervisor
