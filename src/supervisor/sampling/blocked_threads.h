#pragma once

#include <cstdint>

#include "core/channel.h"
#include "core/clock.h"
#include "core/messages.h"
#include "supervisor/tracees/sample_slot.h"

namespace sp::supervisor {

/// Follows the waits of blocked threads from outside, without stopping them (--wall). A wait's
/// first look copies its stack; as long as system call, sp, pc and the number of times that the
/// thread was put on a CPU stay the same it is the same wait, and looks are only counted. Runs on
/// the timer thread. Out: OffCpuSample events.
class WaitWatch {
 public:
  explicit WaitWatch(core::Channel<core::StopEvent>& events) : events_(events) {}

  /// The thread was found asleep. False where the report of a new wait had to be dropped.
  bool look(SampleSlot& slot, core::TimePoint now);
  /// The thread was found running: tells what was counted of its last wait.
  void woke(SampleSlot& slot, core::TimePoint now);
  /// The thread was found ready to run, but only because a stop of ours woke it from the wait that
  /// is followed: it has to come to a CPU twice, to stop and to go on waiting.
  [[nodiscard]] static bool is_awake_for_us(SampleSlot& slot);
  /// Tells what was counted since the last report.
  void report(SampleSlot& slot, core::TimePoint now);

 private:
  core::Channel<core::StopEvent>& events_;
  std::uint64_t next_wait_ = 1;
};

}  // namespace sp::supervisor
