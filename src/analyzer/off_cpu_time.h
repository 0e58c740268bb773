#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ids.h"
#include "core/messages.h"
#include "core/stack.h"

namespace sp::analyzer {

/// Accounts off-CPU time (--wall): keeps the stack of each blocked thread's current wait, so that a
/// wait of a thousand ticks is unwound once. Pure.
class OffCpuTime {
 public:
  /// `ticks` samples of `stack`.
  struct Entry {
    std::uint64_t ticks = 0;
    core::Stack stack;
    std::string syscall;
  };

  /// Sets a wait's stack, which may be truncated. With `wait_for_better` its ticks are held back
  /// until a second, complete stack comes or take_held() is called.
  void learn(core::ThreadId thread, std::uint64_t wait_id, std::string syscall, core::Stack stack,
             bool wait_for_better);

  /// Adds `ticks` to that wait. Nothing if they are held back or the wait is not known.
  [[nodiscard]] std::optional<Entry> count(core::ThreadId thread, std::uint64_t wait_id,
                                           std::uint64_t ticks);

  /// Takes a thread's held ticks, once no better stack will come: the thread woke up or ended.
  [[nodiscard]] std::optional<Entry> take_held(core::ThreadId thread);
  void forget(core::ThreadId thread) { waits_.erase(thread); }

  [[nodiscard]] std::vector<core::ThreadId> threads() const;

 private:
  struct Wait {
    std::uint64_t id = 0;
    std::string syscall;
    core::Stack stack;
    bool held = false;
    std::uint64_t held_ticks = 0;
  };

  std::unordered_map<core::ThreadId, Wait> waits_;
};

}  // namespace sp::analyzer
