#include "supervisor/thread_dump.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "arch/native.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/process_vm.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/world_stop.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using std::chrono::milliseconds;

/// Threads may take so long to stop, and all that is done while they are stopped so long.
constexpr core::Duration kStopLimit = milliseconds(2);
constexpr core::Duration kHoldLimit = milliseconds(5);
constexpr std::size_t kDeepest = std::size_t{1} << 20U;

/// What is known of a thread, and the event with its stack.
struct Seen {
  DumpedThread thread;
  std::optional<core::StopDetail> stack;
};

/// While it lives the calling thread runs before all ordinary threads, if the kernel permits that
/// (CAP_SYS_NICE): on a busy machine it would wait for a CPU while threads are stopped.
class FirstInLine {
 public:
  FirstInLine() {
    const sched_param first{1};
    (void)::sched_setscheduler(0, SCHED_FIFO, &first);
  }
  FirstInLine(const FirstInLine&) = delete;
  FirstInLine& operator=(const FirstInLine&) = delete;
  ~FirstInLine() {
    const sched_param ordinary{};
    (void)::sched_setscheduler(0, SCHED_OTHER, &ordinary);
  }
};

/// The call in which the thread slept until its stop woke it.
std::optional<int> call_until_stop(const ptrace::Registers& registers) {
  const bool was_woken = Native::will_restart(registers) ||
                         (!Native::kInterruptedCallIsGuessed && Native::returns_eintr(registers));
  return was_woken ? Native::leaving_syscall(registers) : std::nullopt;
}

class Dumper {
 public:
  Dumper(Lifecycle& lifecycle, const TracedProcess& process)
      : lifecycle_(lifecycle), process_(process) {}

  /// Names and states before anything stops.
  void look_around();
  /// Returns with threads stopped, whose reports are left to the main loop. Threads whose stacks
  /// were taken before are no longer traced.
  void stop_and_copy();
  /// Threads that were stopped are still in that stop.
  [[nodiscard]] bool holds_some() const;
  /// All threads that were stopped run again.
  void note_end_of_stop(core::TimePoint now);
  [[nodiscard]] bool misses_some() const;
  /// What was copied since the last time.
  void send(Outbox& outbox);
  [[nodiscard]] ThreadDump finish();

 private:
  void copy_held(const HeldThread& held);
  void copy_sleeper(pid_t tid, const BlockedCall& call);
  /// Who was copied asleep and has woken since has a torn copy.
  void drop_torn(const WorldStop& world);
  Seen& seen(pid_t tid);
  /// Copies all of the stack above `raw.registers.sp`, up to kDeepest.
  [[nodiscard]] core::RawStack copy_whole(pid_t tid, core::RawStack raw) const;
  [[nodiscard]] bool has_time() const { return core::Clock::now() < began_ + kHoldLimit; }

  Lifecycle& lifecycle_;
  const TracedProcess& process_;
  core::TimePoint began_;
  std::map<pid_t, Seen> threads_;
  std::size_t held_ = 0;  // in the stop that began last
  std::vector<pid_t> held_tids_;
  std::size_t stopped_ = 0;
  core::Duration longest_{};
  std::uint64_t waits_ = 0;
};

Seen& Dumper::seen(pid_t tid) {
  const auto [entry, is_new] = threads_.try_emplace(tid);
  DumpedThread& thread = entry->second.thread;
  if (is_new) {
    thread.id.tid = tid;
    thread.name = read_name(process_.id.pid, tid);
    const auto stat = read_stat(tid);
    thread.state = stat ? stat->state : '?';
  }
  return entry->second;
}

void Dumper::look_around() {
  const auto tids = list_threads(process_.id.pid);
  for (const pid_t tid : tids ? *tids : std::vector<pid_t>{}) {
    (void)seen(tid);
    if (Tracee* const tracee = lifecycle_.tracees().find(tid)) {
      tracee->stack_bytes = kDeepest;  // for those whose stack needs their registers
    }
  }
}

void Dumper::stop_and_copy() {
  constexpr int kMostRounds = 4;
  began_ = core::Clock::now();
  held_ = 0;
  held_tids_.clear();
  auto world = WorldStop::stop_most(lifecycle_.tracees(), process_, kStopLimit);
  if (!world) {
    return;  // it has called exec: there is nothing left to see
  }
  for (int round = 0; round < kMostRounds; ++round) {
    for (const HeldThread& held : world->threads().subspan(held_)) {
      copy_held(held);
    }
    held_ = world->threads().size();
    for (const auto& [tid, call] : world->sleepers()) {
      if (held_ == 0 || has_time()) {
        copy_sleeper(tid, call);
      }
    }
    // Who has woken meanwhile has a torn copy, and runs.
    const auto woken = world->stop_woken(milliseconds(1));
    if (!woken || *woken == 0) {
      break;
    }
  }
  drop_torn(*world);
}

void Dumper::drop_torn(const WorldStop& world) {
  std::set<pid_t> whole(held_tids_.begin(), held_tids_.end());
  for (const auto& [tid, call] : world.sleepers()) {
    whole.insert(tid);
  }
  for (auto& [tid, one] : threads_) {
    if (one.stack && !whole.contains(tid)) {
      one.stack.reset();
    }
  }
}

void Dumper::note_end_of_stop(core::TimePoint now) {
  stopped_ += held_;
  longest_ = std::max(longest_, held_ > 0 ? now - began_ : core::Duration{});
}

bool Dumper::holds_some() const {
  return std::any_of(held_tids_.begin(), held_tids_.end(), [this](pid_t tid) {
    const Tracee* const tracee = lifecycle_.tracees().find(tid);
    return tracee != nullptr && !tracee->group_stopped;  // else it is detached, or gone
  });
}

bool Dumper::misses_some() const {
  return std::any_of(threads_.begin(), threads_.end(), [this](const auto& entry) {
    return !entry.second.thread.has_stack && lifecycle_.tracees().find(entry.first) != nullptr;
  });
}

void Dumper::copy_held(const HeldThread& held) {
  Tracee* tracee = lifecycle_.tracees().find(held.tid);
  if (tracee == nullptr) {
    tracee = lifecycle_.adopt(held.tid);
  }
  const auto registers = ptrace::registers(held.tid);
  if (tracee == nullptr || !registers) {
    return;  // it was killed
  }
  Seen& one = seen(held.tid);
  one.thread.id = tracee->id;
  const bool is_stopped = std::holds_alternative<GroupStop>(held.stop);
  one.thread.state = is_stopped ? 'T' : 'R';
  one.thread.syscall.clear();
  if (const auto call = call_until_stop(*registers); call && !is_stopped) {
    one.thread.state = 'S';
    one.thread.syscall = name_of_call(*call);
  }
  core::RawStack raw;
  raw.registers = Native::to_dwarf(*registers);
  one.stack = core::Sampled{copy_whole(held.tid, std::move(raw))};
  tracee->let_go = true;
  held_tids_.push_back(held.tid);
}

void Dumper::copy_sleeper(pid_t tid, const BlockedCall& call) {
  const Tracee* const tracee = lifecycle_.tracees().find(tid);
  Seen& one = seen(tid);
  if (tracee == nullptr || one.stack || one.thread.has_stack) {
    return;
  }
  const auto stat = read_stat(tid);
  one.thread.id = tracee->id;
  one.thread.state = stat ? stat->state : 'S';
  one.thread.syscall = name_of_call(call.number);
  core::OffCpuSample sample;
  sample.wait_id = ++waits_;
  sample.syscall = one.thread.syscall;
  sample.raw = copy_whole(tid, copy_sleeping_stack(tid, call, 0));
  sample.unstopped = true;
  one.stack = std::move(sample);
}

core::RawStack Dumper::copy_whole(pid_t tid, core::RawStack raw) const {
  return copy_whole_stack(tid, std::move(raw), kDeepest,
                          [this] { return held_ == 0 || has_time(); });
}

void Dumper::send(Outbox& outbox) {
  for (auto& [tid, one] : threads_) {
    if (one.stack) {
      one.thread.has_stack = true;
      (void)outbox.offer({process_.id, one.thread.id, began_, std::move(*one.stack)});
      one.stack.reset();
    }
  }
}

ThreadDump Dumper::finish() {
  ThreadDump dump;
  for (auto& [tid, one] : threads_) {
    dump.threads.push_back(std::move(one.thread));
  }
  std::stable_partition(dump.threads.begin(), dump.threads.end(),
                        [this](const auto& thread) { return thread.id.tid == process_.id.pid; });
  dump.stopped = stopped_;
  dump.stopped_for = longest_;
  return dump;
}

}  // namespace

ThreadDump dump_threads(Lifecycle& lifecycle, const RunState& run, Outbox& outbox,
                        const std::function<void()>& serve_one) {
  const std::shared_ptr<TracedProcess> process = lifecycle.tracees().find_process(run.root);
  if (process == nullptr) {
    return {};
  }
  Dumper dumper(lifecycle, *process);
  dumper.look_around();
  // On a busy machine a thread may wait for a CPU before it stops.
  constexpr int kMostStops = 20;
  for (int stop = 0; stop < kMostStops && !run.over; ++stop) {
    {
      const FirstInLine first;
      dumper.stop_and_copy();
      dumper.send(outbox);
      while (dumper.holds_some() && !run.over) {
        serve_one();
      }
      dumper.note_end_of_stop(core::Clock::now());
    }
    if (!dumper.misses_some()) {
      break;
    }
  }
  return dumper.finish();
}

}  // namespace sp::supervisor
