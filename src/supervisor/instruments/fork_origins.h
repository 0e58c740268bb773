#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "core/ids.h"
#include "supervisor/instruments/instrumented_code.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// Where the stack is in a function's first instruction, and where the function returns to.
struct CallFrame {
  core::Address sp;
  core::Address returns_to;
};

/// What a new task has of the thread that created it. For the instrument; others only pass it on.
struct ForkOrigin {
  std::shared_ptr<InstrumentedCode> code;  // null: its creator's process has none
  std::uint64_t insertions = 0;  // BreakpointTable::insertions() before the fork; 0: not known
  bool blocks_trap = false;      // the creator blocks SIGTRAP, as the program sees it
  bool clears_handlers = false;  // the task has no handlers (CLONE_CLEAR_SIGHAND)
  std::optional<CallFrame> collected_in{};  // of the exact instrument, --toggle-collect
  /// With --trace: the calls that the creator is in, on the stack that it is on, outermost first.
  struct OpenCall {
    std::uint32_t function = 0;  // ProbedFunction::number
    CallFrame frame;
  };
  std::vector<OpenCall> open_calls{};
  core::AddressRange stack{};
};

/// Where new tasks come from: those that were announced by their creator's fork, vfork or clone
/// event and have not reported yet, and the code of processes that have just ended, for a process
/// that is killed inside of fork announces no child. Runs on the ptrace thread.
class ForkOrigins {
 public:
  void announce(pid_t child, ForkOrigin origin);
  /// The origin that was announced for a task; nullptr where none was.
  [[nodiscard]] const ForkOrigin* announced(pid_t child) const;
  /// The task has reported, or ended before it could.
  void forget(pid_t child) { announced_.erase(child); }
  /// Announced tasks are still to come.
  [[nodiscard]] bool awaits_any() const { return !announced_.empty(); }
  void forget_all() { announced_.clear(); }
  /// Forgets the announced tasks that `is_gone` is true of.
  void forget_if(const std::function<bool(pid_t)>& is_gone) {
    std::erase_if(announced_, [&](const auto& entry) { return is_gone(entry.first); });
  }

  /// A process has ended: keeps its code for a moment, if memory of ours was in it.
  void remember_ended(const std::shared_ptr<TracedProcess>& process, core::TimePoint now);
  /// The origin of a new process: the announced one, else what its memory shows. `parent` is the
  /// process that /proc names, null where that is not traced. ForkOrigin::code is null where
  /// nothing of ours can be in the new process.
  [[nodiscard]] ForkOrigin find(pid_t child, const TracedProcess* parent) const;

 private:
  std::unordered_map<pid_t, ForkOrigin> announced_;
  struct Ended {
    core::TimePoint time;
    std::shared_ptr<InstrumentedCode> code;
  };
  std::deque<Ended> ended_;
};

}  // namespace sp::supervisor
