#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "core/clock.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/instruments/exact/counted_code.h"
#include "supervisor/instruments/exact/counted_thread.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

struct ExactOptions {
  bool plants = true;  // false: every instruction is a single step
};

/// Counts every edge that threads take, by breakpoints planted ahead of them: when control comes
/// to code that is not known yet, it is decoded to the instruction that ends it and that is planted
/// before the thread goes on. At a breakpoint the displaced instruction is done in its stead. Where
/// nothing can be planted, threads are single-stepped. Runs on the ptrace thread.
///
/// Each thread is let run by resume() alone. System calls are stopped at on both sides: they change
/// maps, return from handlers, and show which code behind them is really executed.
class ExactCounter {
 public:
  ExactCounter(ExactOptions options, Outbox& outbox, Guardian& guardian);

  /// The process has a new program, or is met for the first time. `tid` is one of its threads.
  void begin_process(TracedProcess& process, pid_t tid);
  /// Where a new process comes from.
  struct Origin {
    std::shared_ptr<CountedCode> code;
    std::uint64_t certain = 0;  // breakpoints with a number below were planted before the fork
    bool blocks_trap = false;   // CountedThread::blocks_trap of the thread that made it
  };
  [[nodiscard]] static Origin origin_of(const Tracee& parent);
  /// A new process: it shares its parent's memory (vfork) or has a copy of it.
  void begin_child(TracedProcess& process, pid_t tid, const Origin& origin);
  /// The thread is stopped for the first time, about to go on in user code. False where it is
  /// about to report a breakpoint: then it begins there.
  bool begin_thread(Tracee& tracee, core::TimePoint now);

  /// A stop for SIGTRAP. True where it is ours; the thread then runs again. False where the target
  /// itself is to have it.
  bool on_trap(Tracee& tracee, core::TimePoint now);
  /// A stop at a system call; the thread runs again.
  void on_syscall(Tracee& tracee, core::TimePoint now);
  /// The target sent itself a SIGTRAP. True where it is to have it now.
  [[nodiscard]] bool may_have_trap(Tracee& tracee) const;
  /// Any other stop, before its meaning is looked at.
  void on_other_stop(Tracee& tracee);
  /// Lets a stopped thread run, delivering `signal`.
  void resume(Tracee& tracee, int signal);

  /// Sends what was counted for the process.
  void send_counts(const TracedProcess& process, core::ThreadId thread);

  /// Puts all bytes of the process back: its threads can then be detached one by one.
  void restore(TracedProcess& process);
  /// A stop for SIGTRAP after restore(): puts the thread back to the instruction that it has not
  /// done. False where the trap is the target's.
  bool on_retired_trap(Tracee& tracee);
  /// The stopped thread may be detached: it is put right where it stood in the middle of one of our
  /// doings. False where a trap of ours is still on its way to it: resume it, it comes back.
  bool make_detachable(Tracee& tracee, bool at_syscall);

  [[nodiscard]] std::uint64_t stops() const { return stops_; }

 private:
  void on_breakpoint(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers,
                     core::TimePoint now);
  void on_step(Tracee& tracee, ptrace::Registers& registers, core::TimePoint now);
  static void hide_step(const Tracee& tracee, const core::Instruction& done,
                        ptrace::Registers& registers);
  void on_handler_entry(Tracee& tracee, core::Address pc, core::TimePoint now);
  void on_syscall_exit(Tracee& tracee, core::Address pc, std::int64_t result, core::TimePoint now);
  void on_maps_changed(Tracee& tracee, const CountedThread::Call& call, std::int64_t result);
  void before_maps_change(Tracee& tracee, const CountedThread::Call& call);
  /// Counts that control goes from one place to another, and makes it known there.
  EdgeCounts::Edge* cross(Tracee& tracee, core::Address from, core::Address to, core::EdgeFlow flow,
                          core::TimePoint now);
  void enter(Tracee& tracee, core::Address pc, core::TimePoint now);
  Run& arrive(Tracee& tracee, core::Address to);
  void read_maps(const TracedProcess& process, core::ThreadId thread);
  void go(Tracee& tracee);
  bool run_sequence(Tracee& tracee, ptrace::Registers& registers);
  void come_out_of_sequence(Tracee& tracee, const BreakpointSite& exit,
                            ptrace::Registers& registers, core::TimePoint now);
  bool is_stepped_back_to_call(const Tracee& tracee, const ptrace::Registers& registers) const;
  void step_aside(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers);
  void finish_aside(Tracee& tracee);
  void leave_aside(Tracee& tracee);
  /// See CountedThread::blocks_trap.
  static void unblock_trap(Tracee& tracee);
  static void block_trap_again(const Tracee& tracee);
  static bool change_mask(Tracee& tracee, std::uint64_t number,
                          const std::array<std::uint64_t, 6>& arguments);
  void on_gate(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers);
  static void come_back(Tracee& tracee, core::Address pc);
  [[nodiscard]] static bool change_mask_in_its_stead(Tracee& tracee,
                                                     const CountedThread::Call& call);
  void before_sigaction(Tracee& tracee, CountedThread::Call& call);
  void after_sigaction(Tracee& tracee, const CountedThread::Call& call);
  [[nodiscard]] bool trap_is_pending(const Tracee& tracee, core::Address pc) const;

  ExactOptions options_;
  Outbox& outbox_;
  Guardian& guardian_;
  std::atomic<std::uint64_t> stops_{0};
};

}  // namespace sp::supervisor
