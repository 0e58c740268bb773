#pragma once

#include <signal.h>

#include <array>
#include <cstdint>

#include "supervisor/breakpoints/breakpoint_table.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {

/// Whether a signal's handler runs with SIGTRAP blocked, as far as that is known of a process: its
/// delivery is then followed by a stop at the handler's first instruction.
class SignalHandlers {
 public:
  enum class Kind : std::uint8_t { unknown, none, leaves_trap, blocks_trap };

  [[nodiscard]] bool needs_stop(int signal) const {
    const Kind kind = kinds_.at(index(signal));
    return !is_told_ || kind == Kind::unknown || kind == Kind::blocks_trap;
  }
  /// From now on every change is told by set() or forget().
  void begin() { is_told_ = true; }
  [[nodiscard]] bool are_told() const { return is_told_; }
  /// The program sets the action of a signal.
  void set(std::uint64_t signal, const SignalAction& action) {
    if (signal < kinds_.size()) {
      kinds_.at(signal) = !action.has_handler()                      ? Kind::none
                          : (action.mask & signal_bit(SIGTRAP)) != 0 ? Kind::blocks_trap
                                                                     : Kind::leaves_trap;
    }
  }
  void forget(std::uint64_t signal) {
    if (signal < kinds_.size()) {
      kinds_.at(signal) = Kind::unknown;
    }
  }
  /// A delivery has shown it.
  void learn(int signal, Kind kind) { kinds_.at(index(signal)) = kind; }

 private:
  [[nodiscard]] static std::size_t index(int signal) {
    return signal > 0 && signal < kSignals ? static_cast<std::size_t>(signal) : 0;
  }

  static constexpr int kSignals = 65;
  std::array<Kind, kSignals> kinds_{};
  bool is_told_ = false;
};

}  // namespace sp::supervisor
