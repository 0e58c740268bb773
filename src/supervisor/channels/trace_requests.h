#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/trace_request.h"
#include "supervisor/channels/wakeup_signal.h"

namespace sp::supervisor {

/// What is asked of a trace: by users, through any thread, and by its own triggers. The ptrace
/// thread takes it, and says how far it is.
class TraceRequests {
 public:
  explicit TraceRequests(WakeupSignal& wakeup) : wakeup_(wakeup) {}

  /// Any thread. What nobody waits for is dropped where the same is already waiting.
  void ask(core::TraceRequest request);

  // The ptrace thread's.

  [[nodiscard]] std::vector<core::TraceRequest> take();
  /// All of them up to `ticket` were done, but that processes may still wait to be switched on.
  void note_served(std::uint64_t ticket) { served_ = ticket; }
  void note_state(bool is_on, std::size_t waiting, std::size_t given_up) {
    is_on_ = is_on;
    waiting_ = waiting;
    given_up_ = given_up;
  }

  // Any thread's.

  [[nodiscard]] std::uint64_t served() const { return served_; }
  [[nodiscard]] bool is_on() const { return is_on_; }
  /// Processes that get their breakpoints as soon as one of their threads stops.
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  /// Processes that are traced no longer, whatever is asked.
  [[nodiscard]] std::size_t given_up() const { return given_up_; }

 private:
  WakeupSignal& wakeup_;
  std::mutex mutex_;
  std::vector<core::TraceRequest> asked_;
  std::atomic<bool> has_any_{false};
  std::atomic<std::uint64_t> served_{0};
  std::atomic<bool> is_on_{true};
  std::atomic<std::size_t> waiting_{0};
  std::atomic<std::size_t> given_up_{0};
};

}  // namespace sp::supervisor
