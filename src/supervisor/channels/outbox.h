#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "core/channel.h"
#include "core/messages.h"

namespace sp::supervisor {

/// The ptrace thread's end of the event channel. The thread must never wait for the analyzer while
/// tracees may be stopped, so what has to arrive waits here when the channel is full, and samples
/// are dropped and counted.
class Outbox {
 public:
  explicit Outbox(core::Channel<core::StopEvent>& channel) : channel_(channel) {}

  /// An event that has to arrive, in order; nothing goes out after close().
  void deliver(core::StopEvent event);
  /// A sample, pushed without waking the reader: it is pushed on the CPU of the thread that was
  /// stopped, which waits to run on. False where it had to be dropped.
  bool offer(core::StopEvent event);
  /// Moves on what waits; to be called in every round.
  void flush();
  /// Waits until all has gone out, says how much was lost, and closes the channel.
  void close();

  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  core::Channel<core::StopEvent>& channel_;
  std::deque<core::StopEvent> waiting_;
  bool closed_ = false;
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace sp::supervisor
