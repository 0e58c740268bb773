#pragma once

#include <signal.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "supervisor/breakpoints/breakpoint_table.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {

[[nodiscard]] inline bool blocks_trap(const SignalAction& action) {
  return action.has_handler() && (action.mask & signal_bit(SIGTRAP)) != 0;
}

/// What the kernel has instead of the program's action while there are breakpoints.
[[nodiscard]] inline SignalAction without_trap(SignalAction action) {
  action.mask &= ~signal_bit(SIGTRAP);
  return action;
}

/// Whether a signal's handler runs with SIGTRAP blocked, as far as that is known of a process: its
/// delivery is then followed by a stop at the handler's first instruction. Also the actions from
/// whose masks SIGTRAP is taken out in the kernel (see handler_masks.h).
class SignalHandlers {
 public:
  enum class Kind : std::uint8_t { unknown, none, leaves_trap, blocks_trap };
  using Actions = std::map<std::uint64_t, SignalAction>;

  [[nodiscard]] bool needs_stop(int signal) const {
    const Kind kind = kinds_.at(index(signal));
    return !is_told_ || kind == Kind::unknown || kind == Kind::blocks_trap;
  }
  /// From now on every change is told by set() or forget().
  void begin() { is_told_ = true; }
  [[nodiscard]] bool are_told() const { return is_told_; }
  /// What handlers do may have changed; what was hidden stays.
  void begin_again() {
    kinds_ = {};
    is_told_ = false;
  }
  /// The program sets the action of a signal. `is_hidden`: the kernel has without_trap() of it.
  void set(std::uint64_t signal, const SignalAction& action, bool is_hidden = false) {
    if (signal < kinds_.size()) {
      kinds_.at(signal) = !action.has_handler()             ? Kind::none
                          : supervisor::blocks_trap(action) ? Kind::blocks_trap
                                                            : Kind::leaves_trap;
      hidden_.erase(signal);
      if (is_hidden) {
        // As the kernel notes it.
        hidden_.emplace(signal, action).first->second.mask &= ~kUnblockable;
      }
    }
  }
  void forget(std::uint64_t signal) {
    if (signal < kinds_.size()) {
      kinds_.at(signal) = Kind::unknown;
    }
  }
  /// A delivery has shown it.
  void learn(int signal, Kind kind) { kinds_.at(index(signal)) = kind; }

  /// The program's actions by signal, of those that are hidden.
  [[nodiscard]] const Actions& hidden() const { return hidden_; }
  [[nodiscard]] bool is_hidden(std::uint64_t signal) const { return hidden_.contains(signal); }
  [[nodiscard]] std::optional<core::Address> hidden_handler(std::uint64_t signal) const {
    const auto it = hidden_.find(signal);
    return it != hidden_.end() ? std::optional(core::Address{it->second.handler}) : std::nullopt;
  }
  void show_all() { hidden_.clear(); }
  /// The action that the kernel has for a signal, as the program has set it.
  [[nodiscard]] SignalAction as_set(std::uint64_t signal, const SignalAction& kernels) const {
    const auto it = hidden_.find(signal);
    // After SA_RESETHAND the handler alone is another one.
    const bool is_ours = it != hidden_.end() && kernels.mask == without_trap(it->second).mask &&
                         (kernels.handler == it->second.handler || kernels.is_default());
    SignalAction action = kernels;
    if (is_ours) {
      action.mask = it->second.mask;
    }
    return action;
  }

 private:
  [[nodiscard]] static std::size_t index(int signal) {
    return signal > 0 && signal < kSignals ? static_cast<std::size_t>(signal) : 0;
  }

  static constexpr int kSignals = 65;
  static constexpr std::uint64_t kUnblockable = signal_bit(SIGKILL) | signal_bit(SIGSTOP);
  std::array<Kind, kSignals> kinds_{};
  Actions hidden_;
  bool is_told_ = false;
};

}  // namespace sp::supervisor
