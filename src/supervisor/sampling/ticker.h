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

/// Makes the kernel wake the calling thread on time: no timer slack, and the scheduler's shortest
/// slice (Linux 6.12), with which a waking thread may preempt one that has a longer slice.
void wake_up_promptly();

/// Requests stops from a thread of its own, on the target's CPU.
///
/// A stop that is requested from another CPU arrives an interrupt later: 1 us, in virtual machines
/// 20 us. That does not matter to a program that computes. But a program that makes a system call
/// every few microseconds is in its next call by then, and all its samples would fall there. A
/// thread that wakes up on the target's CPU preempts the target at whatever instruction it was.
/// That is unbiased, and costs the target more.
///
/// Which thread to stop is decided at the tick: where threads take turns, one that ran a moment
/// before may have gone to sleep. If the target runs on another CPU by then, the ticker follows it
/// there: otherwise the beginnings of turns would be missed, and short turns consist of little
/// else.
///
/// The ticker is armed one tick ahead, because to arm it while it sleeps would wake it up on that
/// CPU, too.
class Ticker {
 public:
  /// Requests a stop of a thread that runs on `cpu`; if there is none, returns another CPU on which
  /// a thread runs that may be stopped. Called on the ticker's thread, on that CPU.
  using Ask = std::function<std::optional<int>(int cpu)>;

  /// The first tick is at `first` on `cpu`.
  Ticker(Ask ask, core::TimePoint first, int cpu);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  /// Sets the time and CPU of the tick after the next one. Call it once for each tick, after the
  /// one before it.
  void arm(core::TimePoint at, int cpu);

  /// Ticks so far. Any thread.
  [[nodiscard]] std::uint64_t ticks() const { return ticks_; }
  /// Whether the tick that followed the last arm() is over. Any thread.
  [[nodiscard]] bool ticked() const { return ticks_ >= arms_; }
  /// Whether more than half of the recent ticks came so late that they requested nothing: then a
  /// waking thread has to wait for its turn here (as in Linux 6.6 to 6.11), and would never see the
  /// thread that held the CPU.
  [[nodiscard]] bool is_kept_waiting() const { return kept_waiting_; }
  /// The CPU of the last tick or of the next one. Any thread.
  [[nodiscard]] int cpu() const { return cpu_; }

 private:
  struct Plan {
    core::TimePoint at;
    int cpu = 0;
  };

  void run(Plan plan);
  /// Moves the ticker's thread, the calling one.
  void move_to(int cpu);
  /// One tick. Follows the target if it runs on another CPU.
  void tick(Plan& plan);
  /// Whether it is too late for a tick that was due at `due`; keeps the statistics of that.
  bool is_late(core::TimePoint due);

  Ask ask_;
  std::atomic<int> cpu_;
  std::atomic<std::uint64_t> arms_{0};
  std::atomic<std::uint64_t> ticks_{0};
  std::atomic<bool> kept_waiting_{false};
  int noted_ = 0;  // these two belong to the ticker's thread
  int late_ = 0;
  std::mutex mutex_;  // for those below
  std::condition_variable changed_;
  Plan next_;
  bool armed_ = false;
  bool waits_to_be_armed_ = false;
  bool over_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace sp::supervisor
