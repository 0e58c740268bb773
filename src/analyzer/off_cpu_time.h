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

/// Knows the stack of the wait that each blocked thread is in, so that a wait that lasts for a
/// thousand ticks is unwound once (--wall). Pure: values in, values out.
class OffCpuTime {
 public:
  /// What is to be written down for a report: `ticks` samples of `stack`.
  struct Entry {
    std::uint64_t ticks = 0;
    core::Stack stack;
    std::string syscall;
  };

  /// The wait's stack as far as it could be had. With `wait_for_better` its ticks are held back
  /// until a second, complete stack comes, the wait ends, or flush() is called.
  void learn(core::ThreadId thread, std::uint64_t wait_id, std::string syscall, core::Stack stack,
             bool wait_for_better);

  /// `ticks` more of that wait. Nothing where they are held back or the wait is not known.
  [[nodiscard]] std::optional<Entry> count(core::ThreadId thread, std::uint64_t wait_id,
                                           std::uint64_t ticks);

  /// Ticks that were held back for a thread, now that nothing better will come (it woke up, it
  /// ended, or its better stack is here).
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
