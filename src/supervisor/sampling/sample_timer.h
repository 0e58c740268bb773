#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <vector>

#include "core/channel.h"
#include "core/clock.h"
#include "core/messages.h"
#include "supervisor/channels/control_signals.h"
#include "supervisor/linux/cpu_affinity.h"
#include "supervisor/sampling/governor.h"
#include "supervisor/tracees/sample_slot.h"
#include "supervisor/sampling/ticker.h"
#include "supervisor/sampling/blocked_threads.h"

namespace sp::supervisor {

enum class StopWith : std::uint8_t { sigstop, interrupt };

struct SampleTimerOptions {
  core::Duration interval = std::chrono::microseconds(100);
  double overhead_percent = 25;
  StopWith stop_with = StopWith::sigstop;
  bool wall = false;
  bool sample = true;      // false: no tick; the rest goes on (exact mode)
  bool follow_cpu = true;  // false: for bench/ alone, to show what it buys
  core::Duration delay{};
  core::Duration duration{};  // 0: no end
};

/// Numbers of the timer thread, read by any.
struct TickCounts {
  std::atomic<std::uint64_t> ticks{0};
  std::atomic<std::uint64_t> while_in_flight{0};  // looks that found the last stop not yet over
  std::atomic<std::int64_t> ticking{0};           // nanoseconds that sampling was on
  std::atomic<std::int64_t> target_cpu{0};        // nanoseconds, estimated from what ran at ticks
};

/// Says when which thread is stopped. Runs on its own thread, away from the CPU that it is going to
/// interrupt (see CpuFollower; Ticker for the programs where that is not good enough). In: the
/// slots. Out: SIGSTOPs, or wishes for PTRACE_INTERRUPT, to running threads; with --wall, OffCpuSample
/// events of blocked ones, which are looked at from outside and not stopped. It also takes all
/// signals that are sent to superprofiler and turns them into Wishes.
class SampleTimer {
 public:
  SampleTimer(SampleTimerOptions options, SampleSlots& slots, CostMeter& meter, Wishes& wishes,
              Doorbell& doorbell, core::Channel<core::StopEvent>& events);

  /// The thread's life. `followed` is the ptrace thread, `avoiding` our other threads.
  void run(const std::stop_token& stop, pid_t followed, std::vector<pid_t> avoiding);

  /// No stop is asked for once this has returned. Any thread.
  void pause();

  /// From now on no SIGSTOP is sent. Any thread.
  void use_interrupts() { interrupts_only_ = true; }

  /// Tids that are to be stopped with PTRACE_INTERRUPT; the ptrace thread takes them.
  [[nodiscard]] std::vector<std::shared_ptr<SampleSlot>> take_interrupts();

  /// The ptrace thread tells of each sample whether it fell on the way out of a system call. Where
  /// many do, stops are asked for on the target's own CPU from then on (see Ticker). `slept`: the
  /// thread was found asleep, so that another may be asked at once.
  void sample_was_taken(bool at_system_call, bool slept);
  /// What a tick on the target's own CPU costs it beside the stop: measured in a virtual machine
  /// (bench/README.md).
  [[nodiscard]] core::Duration tick_cost() const {
    return ticking_there_ ? std::chrono::microseconds(40) : core::Duration{};
  }

  /// This part (0..1) of the target's time is used up by probes: it is not sampling's. Any thread.
  void others_use(double share) { others_share_ = share; }

  /// The ptrace thread could not hand a sample on.
  void sample_was_dropped() { dropped_ = true; }

  [[nodiscard]] const TickCounts& counts() const { return counts_; }

 private:
  using Slot = std::shared_ptr<SampleSlot>;
  struct Running {
    Slot slot;
    int cpu = 0;
  };

  /// Looks at the threads and asks one of those that run to stop. The tick was planned for
  /// `planned`; returns when the next one is due.
  core::TimePoint tick(core::TimePoint now, core::TimePoint planned, CpuFollower& follower);
  void beat(core::TimePoint first);
  /// The thread's life where nothing is sampled.
  void run_beside(const std::stop_token& stop, CpuFollower& follower);
  void look_at_all(core::TimePoint now, int cpus);
  void look(SampleSlot& slot, const Slot& shared);
  /// The ticker's look: fills here_ with what may be asked on `cpu`; returns another CPU on which
  /// something may.
  std::optional<int> look_from(int cpu);
  /// One of the threads that used a CPU at the last look; null where none did.
  [[nodiscard]] const Running* any_on_cpu();
  [[nodiscard]] int cpu_to_tick_on();
  /// The time of the next tick.
  [[nodiscard]] core::TimePoint plan(core::TimePoint planned, core::TimePoint now);
  /// Starts or ends the ticker as it is called for.
  void choose_way(const CpuFollower& follower);
  /// Puts our threads where they serve those that run now.
  void place(CpuFollower& follower);
  void ask(const Slot& slot, core::TimePoint since);
  /// See Ticker::Ask.
  [[nodiscard]] std::optional<int> ask_from_ticker(int cpu);
  /// See CpuFollower::keeps_busy(). `asked` is null where the ticker does the asking.
  void be_busy_during_stop(Slot asked, core::TimePoint deadline);
  void account(core::TimePoint now, std::size_t looked, std::size_t of, int cpus);
  [[nodiscard]] core::Duration jittered(core::Duration mean);

  SampleTimerOptions options_;
  SampleSlots& slots_;
  CostMeter& meter_;
  Wishes& wishes_;
  Doorbell& doorbell_;
  WaitWatch waits_;
  Governor governor_;
  TickCounts counts_;
  std::mt19937_64 random_;
  std::atomic<double> others_share_{0};
  std::atomic<bool> dropped_{false};
  std::atomic<bool> interrupts_only_{false};
  std::atomic<bool> precise_{false};        // is called for
  std::atomic<bool> ticking_there_{false};  // is done, or is from the next tick on
  std::atomic<bool> slept_before_stop_{false};
  bool again_ = false;  // this tick is in place of one that found a thread asleep
  bool ticker_gave_up_ = false;
  int looked_ = 0;  // these three: the ptrace thread's
  int at_system_call_ = 0;
  bool came_back_ = false;

  SampleSlots::List list_;
  std::uint64_t list_version_ = 0;
  std::vector<Running> running_;   // at the last look
  std::vector<Running> stopping_;  // at the last look: asked to stop, and had not yet
  std::size_t busy_cpus_ = 1;      // that these were on
  std::uint64_t not_counted_ = 0;  // --wall: ticks of running threads that no stop stands for yet
  core::TimePoint last_tick_;
  core::TimePoint window_start_;
  core::Duration own_cpu_at_window_{};
  double own_share_ = 0;
  double running_now_ = 0;

  std::mutex pause_mutex_;  // held while a stop is asked for
  bool paused_ = false;
  // These three are the ticker's, under pause_mutex_ too.
  Slot asked_by_ticker_;
  SampleSlots::List here_;
  std::mt19937_64 ticker_random_;
  std::mutex interrupts_mutex_;
  SampleSlots::List interrupts_;
  std::optional<Ticker> ticker_;  // the last: its thread uses the others
};

}  // namespace sp::supervisor
