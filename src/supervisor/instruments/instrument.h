#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>

#include "core/clock.h"
#include "core/ids.h"
#include "core/messages.h"
#include "core/run_facts.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/channels/trace_requests.h"
#include "supervisor/guardian/guardian.h"
#include "supervisor/instruments/fork_origins.h"
#include "supervisor/sampling/cost_meter.h"
#include "supervisor/sampling/sample_timer.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// What an instrument needs of the supervisor; constant over a run.
struct InstrumentNeeds {
  /// It meets every thread in a stop before anything of it counts, and reads the maps itself.
  /// Nothing is sampled beside it.
  bool every_thread = false;
  /// It begins at an attach, in a stop of one thread, though all may sleep.
  bool a_thread = false;
  /// It does something in each round of the timer: on_round().
  bool rounds = false;

  /// The thread is to be stopped when it is attached to. `is_first`: of those of its process.
  [[nodiscard]] bool stops(bool is_first) const { return every_thread || (a_thread && is_first); }
};

/// A stop at which the thread goes on in user code.
enum class UserStop {
  signal,     // a signal is about to be delivered
  interrupt,  // PTRACE_INTERRUPT, a new task's first stop, the end of a group-stop
};

/// Whatever changes the target's code: probes, exact counts. The supervisor drives at most one and
/// does not know which. Runs on the ptrace thread, but for fill().
///
/// In: processes and threads that come and go, their stops, requests of the analyzer. Out: events
/// with what was counted. The state of a process (TracedProcess::code_state) and of a thread
/// (Tracee::thread_state) is the instrument's alone.
class Instrument {
 public:
  Instrument() = default;
  Instrument(const Instrument&) = delete;
  Instrument& operator=(const Instrument&) = delete;
  virtual ~Instrument() = default;

  [[nodiscard]] virtual InstrumentNeeds needs() const { return {}; }

  // ---- processes and threads

  /// A new program, by exec or at the attach. `tid` is one of its threads. `from_start`: none of
  /// its instructions was executed yet.
  virtual void begin_process(TracedProcess& process, pid_t tid, bool from_start) = 0;
  /// `caller` has called exec and stands, with the tid `tid`, in front of the new program: what the
  /// program inherits from the old one is put in place. Ends the old program's code_state.
  virtual void before_exec(Tracee& caller, pid_t tid) = 0;
  /// What a task that `parent` creates now inherits of it.
  [[nodiscard]] virtual ForkOrigin origin_of(const Tracee& parent) const = 0;
  /// A forked process: it shares its parent's memory (vfork) or has a copy of it. `origin.code` is
  /// set. `tid` is its first thread, in its first stop.
  void begin_child(TracedProcess& process, pid_t tid, const ForkOrigin& origin);
  /// Gives a new thread its state. `counted` false: it is only helped over the breakpoints.
  virtual void add_thread(Tracee& tracee, bool counted) = 0;
  /// Hands what add_thread() could not know to a thread: its creator's origin_of().
  virtual void inherit(Tracee& tracee, const ForkOrigin& origin) = 0;

  // ---- stops of a thread whose process has a code_state

  /// SIGTRAP is about to be delivered. True where the trap was the instrument's; the thread runs
  /// again. False where the signal is the target's.
  [[nodiscard]] virtual bool on_trap(Tracee& tracee, core::TimePoint now) = 0;
  /// A system-call stop; only where resume() asks for them. The thread runs again.
  virtual void on_syscall(Tracee& tracee, core::TimePoint now) = 0;
  /// Any other stop, before its meaning is looked at: cancels what the thread was in the middle of.
  virtual void on_other_stop(Tracee& tracee) = 0;
  /// After on_other_stop(): the thread is in a group-stop, in which it may be left to itself. False
  /// where a trap of ours is pending, which it has to report before.
  [[nodiscard]] virtual bool on_group_stop(Tracee& /*tracee*/) { return true; }
  /// After on_other_stop(), if the thread goes on in user code: does pending work.
  virtual void on_user_stop(Tracee& tracee, UserStop stop, core::TimePoint now) = 0;
  /// A SIGTRAP of the target's own came. False where the program blocks it: it is sent again later.
  [[nodiscard]] virtual bool may_deliver_trap(Tracee& tracee) = 0;
  /// The thread is stopped for a sample, which was taken: does pending work.
  virtual void on_sample(Tracee& /*tracee*/) {}
  /// With InstrumentNeeds::rounds, in each round of the timer: at least every 10 ms, and more often
  /// while threads run. True if the next one should come soon.
  virtual bool on_round() { return false; }
  /// A sample that was requested at `asked_at` would only show where the instrument resumed the
  /// thread.
  [[nodiscard]] virtual bool biases_sample(const Tracee& /*tracee*/,
                                           core::TimePoint /*asked_at*/) const {
    return false;
  }
  /// The thread is about to end, in its last stop.
  virtual void on_exit(Tracee& /*tracee*/) {}
  /// Lets a stopped thread run, delivering `signal`. Also for threads without instrumented code.
  virtual void resume(Tracee& tracee, int signal) = 0;

  // ---- requests, results and the end

  /// The analyzer wants probes.
  virtual void serve(const core::ProbeFunctions& /*wanted*/, TracedProcess& /*process*/) {}
  /// Something is asked of a trace; TraceAction::stop is served elsewhere.
  virtual void serve(const core::TraceRequest& /*request*/) {}
  /// Delivers what was counted for the process's code since the last time.
  virtual void flush(const TracedProcess& process, core::ThreadId thread) = 0;
  /// The analyzer needs the maps as they are now, though no sample asks for them.
  [[nodiscard]] virtual bool wants_last_maps(const TracedProcess& /*process*/) const {
    return false;
  }
  /// The thread has another signal mask than the program has given it. While breakpoints stand it
  /// cannot see that, and nobody else looks.
  [[nodiscard]] virtual bool has_other_mask(const Tracee& tracee) const = 0;
  /// Removes every breakpoint of the process, so that its threads can be detached one by one. No
  /// stop is being handled.
  virtual void restore(const TracedProcess& process);
  /// A forked child that is not followed, in its first stop, with a copy of its parent's memory:
  /// removes everything of ours from it, and its code_state.
  static void clean_child(TracedProcess& process, pid_t tid);
  /// SIGTRAP is about to be delivered after restore(). True where the trap was ours: the thread
  /// stands in front of its instruction again.
  [[nodiscard]] static bool on_retired_trap(const Tracee& tracee);
  /// Makes a stopped thread ready to be detached. `may_call`: it can make system calls for us.
  /// False where one of our traps is pending: let it run, it comes back.
  [[nodiscard]] virtual bool make_detachable(Tracee& tracee, bool may_call) = 0;

  /// After restore() and on_other_stop(): a system-call stop.
  virtual void on_syscall_to_detach(Tracee& /*tracee*/) {}
  /// Lets a thread run that is not detachable in this stop, delivering `signal`. Where that begins
  /// a handler from whose mask SIGTRAP was taken out, it is noted for the stop that follows.
  virtual void resume_to_detach(Tracee& tracee, int signal);

  /// Adds the instrument's part to what is known of the run. Any thread.
  virtual void fill(core::RunFacts& facts) const = 0;

 protected:
  /// The code of a forked child that has a copy of its parent's memory.
  [[nodiscard]] virtual std::shared_ptr<InstrumentedCode> copy_code(const TracedProcess& child,
                                                                    pid_t tid,
                                                                    const ForkOrigin& origin) = 0;
};

/// What an instrument is built from.
struct InstrumentParts {
  Outbox& outbox;
  Guardian& guardian;
  CostMeter& meter;
  SampleTimer& timer;
  TraceeTable& tracees;  // for a WorldStop
  TraceRequests& trace_requests;
};
using MakeInstrument = std::function<std::unique_ptr<Instrument>(const InstrumentParts&)>;

}  // namespace sp::supervisor
