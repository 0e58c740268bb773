#pragma once

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "supervisor/instruments/probes/probed_function.h"

namespace sp::supervisor {

/// Chooses the functions that are to run from a copy: those whose probes have cost as much as a
/// copy will, so that none costs more than twice what would have been best (ski rental). Pure.
class HotFunctions {
 public:
  /// Each may become due anew: in a forked child, and when a trace is switched on. `functions`:
  /// all.
  template <typename Functions>
  void forget_due(Functions& functions) {
    due_.clear();
    for (ProbedFunction& function : functions) {
      if (function.due_since) {
        function.due_since.reset();
        function.hits = 0;
      }
    }
  }
  /// Functions are to run from copies; without this none becomes due.
  void enable() { are_wanted_ = true; }
  void disable() {
    are_wanted_ = false;
    due_.clear();
  }
  [[nodiscard]] bool are_wanted() const { return are_wanted_; }
  /// A probe of the function was hit.
  void note_hit(ProbedFunction& function, core::TimePoint now) {
    if (++function.hits == hits_worth_a_copy(function.bounds.size())) {
      (void)make_due(function, now);
    }
  }
  /// A few hits of the function, which has had none, make it due: -a.
  static void expect(ProbedFunction& function) {
    constexpr std::uint64_t kFew = 4;
    function.hits = hits_worth_a_copy(function.bounds.size()) - kFew;
  }
  /// Whether the function's probes, which are hot, may stay: it is due, and has not been for long.
  bool make_due(ProbedFunction& function, core::TimePoint now) {
    constexpr core::Duration kLong = std::chrono::milliseconds(200);
    if (!are_wanted_ || function.refusal || function.state != ProbedFunction::State::instrumented) {
      return false;
    }
    if (!function.due_since) {
      function.due_since = now;
      due_.push_back(function.number);
    }
    return now - *function.due_since < kLong;
  }
  [[nodiscard]] bool any() const { return !due_.empty(); }
  /// Numbers of the functions that have become due since the last call.
  [[nodiscard]] std::vector<std::uint32_t> take() { return std::exchange(due_, {}); }
  /// Once more, later.
  void postpone(std::uint32_t function) { due_.push_back(function); }

  /// A hit takes some 5 us; a copy 0.3 us for each instruction of some 4 bytes, and the stop.
  [[nodiscard]] static std::uint64_t hits_worth_a_copy(std::uint64_t bytes) {
    constexpr std::uint64_t kOfStop = 12;
    constexpr std::uint64_t kBytesOfHit = 64;
    return kOfStop + bytes / kBytesOfHit;
  }

 private:
  std::vector<std::uint32_t> due_;
  bool are_wanted_ = false;
};

}  // namespace sp::supervisor
