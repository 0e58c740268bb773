#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/clock.h"

namespace sp::supervisor {

/// Adds up what stops cost the target. The ptrace thread writes, any thread reads.
class CostMeter {
 public:
  /// Charges one stop: `latency` from the request to the report, `handling` from the report until
  /// the thread was resumed. On a busy machine most of the latency is time in which the thread
  /// waited for a CPU that others had, so it is charged at most at twice the quickest of the recent
  /// stops. A quarter of it is added for the way back into the program, and that is left out in
  /// which the program runs on (bench/README.md compares the charge with the measured slowdown).
  void add(core::Duration latency, core::Duration handling);

  /// Charges one stop that only woke a sleeping thread: it says nothing about other stops.
  void add_woken(core::Duration handling) { charge(handling.count()); }

  /// What others have charged before a stop is handled; see add_following().
  struct Charged {
    core::Duration stopped{};
    std::uint64_t stops = 0;
  };
  [[nodiscard]] Charged charged() const { return {stopped(), stops()}; }
  /// Charges the rest of a stop that took us `handling` on a CPU (what we wait for one is not the
  /// stop's): for what a program pays to be followed, at its forks, execs, exits and signals,
  /// nobody else does. Nothing is left of stops for a sample or a probe. The kernel's way to us and
  /// back is charged as that of the quickest recent stops for a sample; all of it, for the thread
  /// has stopped before anybody is told.
  void add_following(core::Duration handling, const Charged& before);

  /// Charges one probe hit.
  void add_hit(core::Duration cost) {
    hits_.fetch_add(1, std::memory_order_relaxed);
    charge(cost.count());
  }
  /// Charges other work that was done while a thread was stopped.
  void add_work(core::Duration cost) {
    stopped_.fetch_add(cost.count(), std::memory_order_relaxed);
  }

  /// Charges what the target's own code took longer because it counted.
  void add_counting(core::Duration cost) {
    counting_.fetch_add(cost.count(), std::memory_order_relaxed);
  }

  /// So many functions run from copies from now on, which the target first finds in no cache.
  void add_copied(std::uint64_t functions) {
    copied_.fetch_add(functions, std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t stops() const { return stops_; }
  [[nodiscard]] core::Duration stopped() const { return core::Duration{stopped_}; }
  /// Of add_following().
  [[nodiscard]] core::Duration following() const { return core::Duration{following_}; }
  /// Of add_counting(). It is CPU time of the target.
  [[nodiscard]] core::Duration counting() const { return core::Duration{counting_}; }
  /// All of it in percent of what the target used for itself, if the kernel says that it used
  /// `target_cpu`; 0 if that is nothing.
  [[nodiscard]] double percent_of(core::Duration target_cpu) const;
  [[nodiscard]] core::Duration longest() const { return core::Duration{longest_}; }
  /// What one stop costs at the moment: the median of the recent ones.
  [[nodiscard]] core::Duration per_stop() const { return core::Duration{per_stop_}; }

 private:
  static constexpr std::size_t kRecent = 32;

  void remember(std::int64_t latency, std::int64_t handling);
  void charge(std::int64_t cost);

  std::array<std::int64_t, kRecent> latencies_{};
  std::array<std::int64_t, kRecent> handlings_{};
  std::size_t filled_ = 0;
  std::size_t next_ = 0;
  std::int64_t latency_ceiling_ = 0;
  std::atomic<std::uint64_t> stops_{0};
  std::atomic<std::uint64_t> hits_{0};  // of these
  std::atomic<std::uint64_t> copied_{0};
  std::atomic<std::int64_t> stopped_{0};
  std::atomic<std::int64_t> following_{0};
  std::atomic<std::uint64_t> following_stops_{0};
  std::atomic<std::int64_t> counting_{0};
  std::atomic<std::int64_t> longest_{0};
  std::atomic<std::int64_t> per_stop_{0};
};

}  // namespace sp::supervisor
