#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/clock.h"
#include "core/ids.h"
#include "core/mapping.h"
#include "core/result.h"
#include "supervisor/guardian/pending_stops.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/sleep_remain.h"
#include "supervisor/linux/syscall_restart.h"
#include "supervisor/tracees/instrument_state.h"
#include "supervisor/tracees/process_cpu.h"
#include "supervisor/tracees/sample_slot.h"

namespace sp::supervisor {

/// A process whose threads we trace.
struct TracedProcess {
  core::ProcessId id;
  std::string command;  // its arguments, joined by blanks
  PendingStops* guard = nullptr;
  std::shared_ptr<ProcessCpu> cpu;
  std::size_t threads = 0;
  std::size_t exiting = 0;  // threads that have reported their exit and are not reaped yet
  /// Executable ranges as of the last look at its maps, sorted.
  std::vector<core::AddressRange> code;
  core::TimePoint maps_read;
  core::Duration maps_reading{};  // how long that took
  std::uint64_t samples = 0;
  std::uint64_t samples_since_maps = 0;
  bool profiled = true;  // false: 32-bit code, or not to be sampled
  bool followed = true;  // false: traced only because it has its parent's breakpoints
  /// The instrument's; null where it has none. Processes that share their memory share it.
  std::shared_ptr<CodeState> code_state;
  bool from_start = false;       // the instrument has its program from the first instruction
  bool ignores_sigtrap = false;  // so its program was started
  /// A child that shares its parent's memory (vfork) has set SIGTRAP to SIG_IGN, or to SIG_DFL.
  std::optional<bool> has_set_sigtrap_ignored;
  bool was_given_up = false;     // by the instrument, which has nothing in its memory any more
  bool is_named = false;         // by the user, or the instrument is to treat it so
  core::TimePoint began;         // when we began to trace its program
  core::TimePoint signals_read;  // see look_for_sigcont_handler()
};

/// A thread that we have seized.
struct Tracee {
  core::ThreadId id;
  std::shared_ptr<TracedProcess> process;
  std::shared_ptr<SampleSlot> slot;                  // null where it is not sampled
  std::size_t stack_bytes = std::size_t{16} << 10U;  // how much of the stack is copied
  std::uint64_t blocked_wait = 0;  // a stop is pending for this wait's stack (--wall)
  std::string last_name;           // read when its exit was announced
  bool let_go = false;             // detach it as soon as none of our stops is pending
  bool is_awaited = false;         // it was interrupted to be detached
  bool was_attached_to = false;    // while it ran; until its first stop
  bool is_new = false;             // created by a traced thread; until its first stop
  bool group_stopped = false;
  bool was_group_stopped = false;  // and SIGCONT was not delivered yet
  bool stops_again = false;  // let out of a group-stop to report what is pending, before it runs
  InterruptedCall interrupted_call;
  SleepRemain sleep_remain;
  std::unique_ptr<ThreadState> thread_state;  // the instrument's; null where there is none
};

/// Requests a stop of a thread that may sleep in a system call, which is remembered.
core::Result<void> interrupt(Tracee& tracee);
/// The same, where its /proc/TID/syscall was read already; nothing: it runs.
core::Result<void> interrupt(Tracee& tracee, const std::optional<BlockedCall>& call);

/// Who is traced. Runs on the ptrace thread.
class TraceeTable {
 public:
  [[nodiscard]] Tracee* find(pid_t tid);
  [[nodiscard]] std::shared_ptr<TracedProcess> find_process(pid_t pid) const;
  /// The threads in one address space, as the instrument knows it.
  [[nodiscard]] std::vector<Tracee*> in(const CodeState& code);

  /// A new thread of `process`.
  Tracee& add(pid_t tid, std::shared_ptr<TracedProcess> process);
  /// Makes the process known; the serial tells it from an earlier one of the same pid.
  std::shared_ptr<TracedProcess> add_process(pid_t pid);
  /// The same process with another program: a new serial, but not one process more.
  std::shared_ptr<TracedProcess> exec_process(pid_t pid);
  void forget_process(pid_t pid) { processes_.erase(pid); }

  void remove(pid_t tid) { tracees_.erase(tid); }

  /// The thread has a report that somebody has seen and left to be handled.
  void left_report(pid_t tid) { left_reports_.push_back(tid); }
  /// The thread whose report is to be handled next, in the order in which they were left. Now and
  /// then it is each thread's turn, whether it has reported or not: the kernel tells of the threads
  /// seized last first, and if these report again and again of nobody else.
  [[nodiscard]] std::optional<pid_t> next_left_report();

  [[nodiscard]] bool empty() const { return tracees_.empty(); }
  [[nodiscard]] std::unordered_map<pid_t, Tracee>& all() { return tracees_; }
  [[nodiscard]] std::uint64_t threads_seen() const { return next_thread_ - execs_; }
  [[nodiscard]] std::uint64_t processes_seen() const { return next_process_ - execs_; }

 private:
  std::unordered_map<pid_t, Tracee> tracees_;
  std::map<pid_t, std::shared_ptr<TracedProcess>> processes_;
  std::deque<pid_t> left_reports_;
  std::size_t asked_ = 0;  // since it was each thread's turn
  std::uint32_t next_thread_ = 0;
  std::uint32_t next_process_ = 0;
  std::uint32_t execs_ = 0;
};

}  // namespace sp::supervisor
