#pragma once

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
  /// A probe of the function was hit.
  void note_hit(ProbedFunction& function) {
    if (++function.hits == hits_worth_a_copy(function.bounds.size()) && !function.refusal) {
      due_.push_back(function.number);
    }
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
};

}  // namespace sp::supervisor
