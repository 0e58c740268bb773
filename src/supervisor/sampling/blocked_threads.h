#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/channel.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/messages.h"
#include "supervisor/tracees/sample_slot.h"

namespace sp::supervisor {

/// Follows the waits of blocked threads from outside, without stopping the threads (--wall). When a
/// wait is first seen, its stack is copied. It is the same wait as long as system call, sp, pc and
/// the number of times that the thread was scheduled stay the same; then only ticks are counted.
/// Runs on the timer thread, with the StopRequester's lock held. Out: Waited events.
class BlockedThreads {
 public:
  explicit BlockedThreads(core::Channel<core::StopEvent>& events) : events_(events) {}

  /// A tick found the thread asleep. False if the report of a new wait had to be dropped.
  bool found_blocked(SampleSlot& slot, core::TimePoint now);
  /// Whether a wait of the thread is being followed.
  [[nodiscard]] bool is_followed(const SampleSlot& slot) const;
  /// A tick found the thread running: reports the ticks of its last wait.
  void woke(SampleSlot& slot, core::TimePoint now);
  /// The thread has ended: reports the ticks of its last wait, and forgets it.
  void ended(SampleSlot& slot, core::TimePoint now);
  /// Whether a thread that is ready to run was only woken by a stop of ours, from the wait that is
  /// being followed: it has to be scheduled twice, to stop and to go back to its wait. Also for the
  /// ticker's thread.
  [[nodiscard]] bool was_woken_by_us(SampleSlot& slot);

 private:
  /// Two looks at a blocked thread show the same wait if these are equal.
  struct WaitKey {
    int number = -1;
    std::uint64_t sp = 0;
    std::uint64_t pc = 0;
    std::uint64_t times_scheduled = 0;

    bool operator==(const WaitKey&) const = default;
  };
  /// The last wait of a thread.
  struct Wait {
    core::UniqueFd syscall_file;
    core::UniqueFd schedstat_file;
    std::uint64_t id = 0;  // 0: over
    WaitKey key;
    std::uint64_t ticks = 0;
    std::string syscall;
    core::TimePoint reported;
  };

  static std::optional<WaitKey> read_key(Wait& wait, const SampleSlot& slot);
  void report(const SampleSlot& slot, Wait& wait, core::TimePoint now);

  core::Channel<core::StopEvent>& events_;
  std::unordered_map<const SampleSlot*, Wait> waits_;
  std::uint64_t next_id_ = 1;
};

}  // namespace sp::supervisor
