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
  bool wall = false;  // who is ready to run counts, too
};

struct SamplerCounts {
  std::atomic<std::uint64_t> samples{0};
  std::atomic<std::uint64_t> blocked_before_stop{0};
  std::atomic<std::uint64_t> waited_for_cpu{0};
};

/// What happens while a thread stands stopped for a sample: registers and a copy of the stack are
/// taken, nothing else; the caller lets it run and then calls hand_on(). Runs on the ptrace thread.
class Sampler {
 public:
  Sampler(SamplerOptions options, Outbox& outbox);

  /// The thread is stopped, `latency` after it was asked to. Registers may be changed (see
  /// restart_interrupted_call()).
  void take(Tracee& tracee, core::TimePoint now, core::Duration latency);
  /// The thread runs again. False where the sample had to be dropped.
  bool hand_on();

  /// Sends the process's maps to the analyzer where they were not looked at since `at_least` ago
  /// or code outside of them was met. Works while the thread `tid` lives.
  void send_maps(TracedProcess& process, core::ThreadId thread, core::TimePoint now);

  /// The last stop was on the way out of a system call.
  [[nodiscard]] bool fell_on_system_call() const { return on_system_call_; }
  /// The thread of the last take() slept in a system call.
  [[nodiscard]] bool found_it_asleep() const { return asleep_; }

  [[nodiscard]] const SamplerCounts& counts() const { return counts_; }

 private:
  void copy_stack(const Tracee& tracee, const ptrace::Registers& registers);
  [[nodiscard]] bool wants_maps(const TracedProcess& process, core::Address pc,
                                core::TimePoint now) const;
  [[nodiscard]] bool knows(const TracedProcess& process, core::Address pc) const;

  SamplerOptions options_;
  Outbox& outbox_;
  SamplerCounts counts_;
  std::mt19937_64 random_;
  core::Duration quickest_ = std::chrono::seconds(1);  // of the stops until now
  /// Filled while the thread is stopped; its memory was taken before that.
  core::StopEvent next_;
  core::RawStack spare_;
  bool pending_ = false;
  bool on_system_call_ = false;
  bool asleep_ = false;
};

}  // namespace sp::supervisor
