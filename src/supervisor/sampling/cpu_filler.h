#pragma once

#include <sched.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "core/clock.h"

namespace sp::supervisor {

/// Fills the second of two CPUs while the target starts one process after the other. The scheduler
/// would put a new process, and one that executes a program, on a CPU that is idle, away from its
/// parent and from the ptrace thread: there each of its stops waits for a CPU to wake up, in a
/// virtual machine 30 to 130 us. The thread that fills it is behind everybody else (nice 19) and
/// ends by itself where it is forgotten. Runs on the timer thread; there is none where the CPU is
/// rationed (see cpu_is_rationed()) or our priority is low.
class CpuFiller {
 public:
  CpuFiller() = default;
  ~CpuFiller();
  CpuFiller(const CpuFiller&) = delete;
  CpuFiller& operator=(const CpuFiller&) = delete;

  /// A scan of the target's threads found so many that run; so many have come and gone by now.
  /// True: they come and go so often, one after the other, that it is worth a CPU.
  [[nodiscard]] bool look(core::TimePoint now, std::size_t running, std::uint64_t changes);
  /// Fills `cpus` for the next 50 ms.
  void fill(core::TimePoint now, const cpu_set_t& cpus);
  void pause();
  [[nodiscard]] bool fills() const { return fills_; }
  /// A thread of the target's was seen on `cpu`. True: it is where the filler is for good, or
  /// nothing is filled.
  [[nodiscard]] bool is_in_the_way(int cpu);

 private:
  /// False where the thread would take from the target, or cannot be.
  [[nodiscard]] bool start();
  void run();

  enum class Work : std::uint8_t { none, filling, over };

  bool is_usable_ = true;
  bool fills_ = false;
  cpu_set_t filled_{};
  int seen_there_ = 0;
  core::TimePoint window_start_;
  std::uint64_t changes_then_ = 0;
  core::TimePoint dense_until_;
  double side_by_side_ = 0;  // smoothed
  std::atomic<Work> work_{Work::none};
  std::atomic<core::TimePoint::rep> until_{0};
  std::atomic<pid_t> tid_{0};
  std::jthread thread_;  // last: it uses the others
};

}  // namespace sp::supervisor
