#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "core/channel.h"
#include "core/messages.h"

namespace sp::supervisor {

/// The ptrace thread's end of the event channel. The thread must never wait for the analyzer while
/// tracees may be stopped. If the channel is full, events that must arrive are queued here; samples
/// are dropped and counted.
class Outbox {
 public:
  explicit Outbox(core::Channel<core::StopEvent>& channel) : channel_(channel) {}

  /// Sends an event that must arrive, in order. Ignored after close().
  void deliver(core::StopEvent event);
  /// Sends a sample without waking the reader: this runs on the CPU of the stopped thread, which
  /// waits to run on. False if it was dropped.
  bool offer(core::StopEvent event);
  /// Sends what is queued, as far as the channel has room. Call it in every round.
  void flush();
  /// Waits until the queue is empty, sends the number of lost samples and closes the channel.
  void close();

  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  core::Channel<core::StopEvent>& channel_;
  std::deque<core::StopEvent> waiting_;
  bool closed_ = false;
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace sp::supervisor
