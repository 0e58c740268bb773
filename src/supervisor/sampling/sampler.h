#pragma once

#include <atomic>
#include <cstdint>
#include <random>

#include "core/messages.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

struct SamplerOptions {
  double trace_probability = 1;
  bool wall = false;  // threads that wait for a CPU count, too
};

struct SamplerCounts {
  std::atomic<std::uint64_t> samples{0};
  std::atomic<std::uint64_t> blocked_before_stop{0};
  std::atomic<std::uint64_t> waited_for_cpu{0};
};

/// Takes samples of stopped threads: the registers and a copy of the stack, nothing else. The
/// caller resumes the thread and then calls send_sample(). Runs on the ptrace thread. Out: Sampled
/// and Waited events, and the maps that the analyzer needs to unwind them.
class Sampler {
 public:
  Sampler(SamplerOptions options, Outbox& outbox);

  /// Takes a sample of a stopped thread. `latency` is the time since the stop was requested. May
  /// change the thread's registers (see restart_interrupted_call()).
  void take(Tracee& tracee, core::TimePoint now, core::Duration latency);
  /// Sends the sample, now that the thread runs again. False if it had to be dropped.
  bool send_sample();

  /// Sends the process's maps to the analyzer. Works as long as `thread` is alive.
  void send_maps(TracedProcess& process, core::ThreadId thread, core::TimePoint now);

  /// Whether the last take() found the thread on the way out of a system call.
  [[nodiscard]] bool fell_on_system_call() const { return on_system_call_; }
  /// Whether the last take() found the thread asleep in a system call.
  [[nodiscard]] bool found_it_asleep() const { return asleep_; }

  [[nodiscard]] const SamplerCounts& counts() const { return counts_; }

 private:
  /// Prepares the stack of a wait, which was to be copied in a stop (core::StopBlocked).
  void prepare_waited(const Tracee& tracee, const ptrace::Registers& registers, std::uint64_t wait,
                      int call);
  void prepare_sampled(const Tracee& tracee, const ptrace::Registers& registers);
  void copy_stack(const Tracee& tracee, const ptrace::Registers& registers);
  [[nodiscard]] bool wants_maps(const TracedProcess& process, core::Address pc,
                                core::TimePoint now) const;
  [[nodiscard]] bool knows(const TracedProcess& process, core::Address pc) const;

  SamplerOptions options_;
  Outbox& outbox_;
  SamplerCounts counts_;
  std::mt19937_64 random_;
  core::Duration quickest_ = std::chrono::seconds(1);  // stop so far
  /// Filled while the thread is stopped; allocated before that.
  core::StopEvent next_;
  core::RawStack spare_;
  bool pending_ = false;
  bool on_system_call_ = false;
  bool asleep_ = false;
};

}  // namespace sp::supervisor
