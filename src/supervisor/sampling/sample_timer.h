#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/channel.h"
#include "core/clock.h"
#include "core/messages.h"
#include "supervisor/channels/control_signals.h"
#include "supervisor/linux/cpu_affinity.h"
#include "supervisor/sampling/cost_meter.h"
#include "supervisor/sampling/cpu_filler.h"
#include "supervisor/sampling/cpu_pair.h"
#include "supervisor/sampling/stop_requester.h"
#include "supervisor/sampling/syscall_bias.h"
#include "supervisor/sampling/thread_scan.h"
#include "supervisor/sampling/tick_counts.h"
#include "supervisor/sampling/tick_plan.h"
#include "supervisor/sampling/ticker.h"
#include "supervisor/sampling/ticker_scan.h"
#include "supervisor/tracees/sample_slot.h"

namespace sp::supervisor {

struct SampleTimerOptions {
  core::Duration interval = std::chrono::microseconds(100);
  double overhead_percent = 25;
  StopWith stop_with = StopWith::sigstop;
  bool wall = false;
  bool sample = true;       // false: no tick; the rest goes on (exact mode)
  bool holds_cpus = false;  // while stops of another kind are dense: see CpuPair
  bool follow_cpu = true;   // false: for bench/ alone, to show what it buys
  core::Duration delay{};
  core::Duration duration{};  // 0: no end
};

/// Decides when which thread is stopped. Runs on its own thread, away from the CPU that it is going
/// to interrupt (see CpuAffinity; Ticker for the programs where that is not good enough). In: the
/// sample slots. Out: SIGSTOPs, or requests for PTRACE_INTERRUPT, to running threads; with --wall,
/// Waited events of blocked threads, which are observed from outside and not stopped. It also takes
/// all control signals of superprofiler and turns them into UserRequests.
class SampleTimer {
 public:
  SampleTimer(SampleTimerOptions options, SampleSlots& slots, CostMeter& meter,
              UserRequests& user_requests, WakeupSignal& wakeup,
              core::Channel<core::StopEvent>& events);

  /// The thread's main function. `followed` is the ptrace thread, `avoiding` our other threads.
  void run(const std::stop_token& stop, pid_t followed, std::vector<pid_t> avoiding);

  /// Once this has returned no stop is requested. Any thread.
  void pause() { requester_.pause(); }

  /// From now on no SIGSTOP is sent. Any thread.
  void use_interrupts() { requester_.use_interrupts(); }

  /// The threads to stop with PTRACE_INTERRUPT. Runs on the ptrace thread.
  [[nodiscard]] std::vector<std::shared_ptr<SampleSlot>> take_interrupts() {
    return requester_.take_interrupts();
  }

  /// The ptrace thread took a sample. `at_system_call`: on the way out of a system call. If many
  /// samples are, stops are requested on the target's own CPU from then on (see Ticker). `slept`:
  /// the thread was found asleep, so another one may be stopped at once.
  void sample_was_taken(bool at_system_call, bool slept);
  /// What a tick on the target's own CPU costs it beside the stop: measured in a virtual machine
  /// (bench/README.md).
  [[nodiscard]] core::Duration tick_cost() const {
    return ticks_on_target_cpu_ ? std::chrono::microseconds(40) : core::Duration{};
  }

  /// Probes take this share (0..1) of the target's time from the budget. Any thread.
  void others_use(double share) { plan_.others_use(share); }

  /// The ptrace thread could not send a sample.
  void sample_was_dropped() { plan_.sample_was_dropped(); }

  [[nodiscard]] const TickCounts& counts() const { return counts_; }
  /// The target used so much that no tick can see any more. Any thread.
  void add_target_cpu(core::Duration cpu) { counts_.target_cpu += cpu.count(); }

 private:
  using Slot = ThreadScan::Slot;

  /// Scans the threads and asks one of the running ones to stop. The tick was planned for
  /// `planned`; returns when the next one is due.
  core::TimePoint tick(core::TimePoint now, core::TimePoint planned, CpuAffinity& affinity);
  /// What every round does: wakes the ptrace thread if needed, and checks --duration.
  void heartbeat(core::TimePoint first);
  /// The thread's main loop if nothing is sampled.
  void run_without_sampling(const std::stop_token& stop, CpuAffinity& affinity);
  /// Decides whether the timer requests stops or the ticker, and ends the latter.
  void choose_requester(const CpuAffinity& affinity);
  /// Puts our threads on the CPUs that suit the threads that run now.
  void place(core::TimePoint now, CpuAffinity& affinity);
  [[nodiscard]] int cpu_to_tick_on();
  /// See Ticker::Ask.
  [[nodiscard]] std::optional<int> request_from_ticker(int cpu);
  /// See CpuAffinity::keeps_busy(). `asked` is null if the ticker requests the stop.
  void be_busy_during_stop(Slot asked, core::TimePoint deadline);

  SampleTimerOptions options_;
  SampleSlots& slots_;
  DenseStops dense_stops_;
  UserRequests& user_requests_;
  WakeupSignal& wakeup_;
  TickCounts counts_;
  StopRequester requester_;
  ThreadScan scan_;
  TickPlan plan_;
  SyscallBias bias_;
  CpuFiller filler_;
  std::atomic<bool> ticks_on_target_cpu_{false};  // or will, from the next tick on
  std::atomic<bool> slept_before_stop_{false};
  bool again_ = false;  // this tick replaces one that found a thread asleep
  bool ticker_gave_up_ = false;
  // These two belong to the ticker's thread; under requester_'s lock.
  TickerScan ticker_scan_;
  Slot asked_by_ticker_;
  std::optional<Ticker> ticker_;  // last: its thread uses the others
};

}  // namespace sp::supervisor
