#pragma once

#include <atomic>
#include <cstdint>

#include "core/address.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// Single-steps a thread for a while after a sample, where a function's indirect jumps are not all
/// known, and tells the analyzer where it went. Runs on the ptrace thread, but for the counts.
class Exploration {
 public:
  explicit Exploration(Outbox& outbox) : outbox_(outbox) {}

  /// Begins a window at `pc`, where the thread stands stopped. The caller lets it run.
  void begin(Tracee& tracee, core::Address pc);
  /// The thread is about to execute what is at `pc`. False where its window ends there: it runs
  /// freely again.
  bool note_step(Tracee& tracee, core::Address pc);
  /// A step of the window is over: makes what it shows of us (the trap flag) disappear. Sets the
  /// thread's registers.
  static void hide_step(const Tracee& tracee, ptrace::Registers& registers);
  /// Ends the thread's window, which must exist, and delivers it.
  void end(Tracee& tracee);

  [[nodiscard]] std::uint64_t windows() const { return windows_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  Outbox& outbox_;
  std::atomic<std::uint64_t> windows_{0};
  std::atomic<std::uint64_t> steps_{0};
};

}  // namespace sp::supervisor
