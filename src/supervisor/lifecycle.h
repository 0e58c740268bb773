#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "core/ids.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/guardian/guardian.h"
#include "supervisor/instruments/fork_origins.h"
#include "supervisor/instruments/instrument.h"
#include "supervisor/run_state.h"
#include "supervisor/tracees/sample_slot.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

struct LifecycleOptions {
  bool follow_forks = true;
  bool all_threads = true;  // false: only main threads are sampled and counted
  bool names_threads = false;
};

/// Which processes and threads are traced. Owns the tracees and the sample slots that the timer
/// thread shares. In: tids that the kernel reports. Out: events of processes and threads.
/// Runs on the ptrace thread.
class Lifecycle {
 public:
  Lifecycle(LifecycleOptions options, const RunState& run, Guardian& guardian, Outbox& outbox)
      : options_(options), run_(run), guardian_(guardian), outbox_(outbox) {}
  /// Before anything else, where there is an instrument.
  void use(Instrument* instrument) { instrument_ = instrument; }

  [[nodiscard]] TraceeTable& tracees() { return tracees_; }
  [[nodiscard]] const TraceeTable& tracees() const { return tracees_; }
  [[nodiscard]] SampleSlots& slots() { return slots_; }

  /// A process that was not traced before, and announces it. `parent`: null where not known.
  std::shared_ptr<TracedProcess> add_process(pid_t pid, const TracedProcess* parent);
  /// The same pid with another program.
  std::shared_ptr<TracedProcess> exec_process(const std::shared_ptr<TracedProcess>& before);
  /// A thread of a process that is known.
  Tracee& add_thread(pid_t tid, pid_t pid, std::shared_ptr<TracedProcess> process);
  /// Takes in a task that reports for the first time, of a known process or of a new one. Null if
  /// it is gone already.
  Tracee* adopt(pid_t tid);
  /// The thread has created a task, which will report by itself.
  void announce_task(const Tracee& creator);
  /// No descriptor is left for another program; counted in unfollowed().
  [[nodiscard]] bool has_no_files();
  /// The process has an instrument's code, or could not get it.
  void note_begun(const TracedProcess& process);
  /// Processes that were let go, or are not counted, because superprofiler may not open more files.
  [[nodiscard]] std::uint64_t unfollowed() const { return unfollowed_; }
  /// The thread is gone or detached; with the last one its process is, too.
  void remove_thread(Tracee& tracee);
  /// A task ended before its first report.
  void forget_announced(pid_t tid);
  void forget_all_announced() { origins_.forget_all(); }
  /// Tasks that were announced are still to come.
  [[nodiscard]] bool awaits_tasks();

  /// Flushes the counts of a process whose program ends, unless its code is its parent's (vfork).
  void flush_own(const TracedProcess& process, core::ThreadId thread);
  /// Delivers the counts of all processes, and the threads' names: threads mostly name themselves
  /// after they have started.
  void flush_all();
  void tell_names();
  /// The thread is about to exit: tells the instrument, and reads its last name, if that may be in
  /// the results.
  void begin_exit(Tracee& tracee) const;

 private:
  void announce(const TracedProcess& process, core::ProcessId parent);
  /// Null where it is not traced.
  [[nodiscard]] std::shared_ptr<TracedProcess> parent_of(pid_t pid) const;
  void complete(ForkOrigin& origin, pid_t task, const TracedProcess& parent);
  void begin_child(TracedProcess& process, pid_t tid, const TracedProcess* parent);
  void end_process(const std::shared_ptr<TracedProcess>& process, core::ThreadId thread);

  LifecycleOptions options_;
  const RunState& run_;
  Guardian& guardian_;
  Outbox& outbox_;
  Instrument* instrument_ = nullptr;
  TraceeTable tracees_;
  SampleSlots slots_;
  ForkOrigins origins_;
  /// Of announced tasks: /proc would have to be asked whose children they are.
  std::unordered_map<pid_t, std::shared_ptr<TracedProcess>> creators_;
  std::atomic<std::uint64_t> unfollowed_ = 0;
};

}  // namespace sp::supervisor
