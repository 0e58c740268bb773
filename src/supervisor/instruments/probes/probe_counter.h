#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/clock.h"
#include "core/messages.h"
#include "core/run_facts.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/instruments/code_analysis.h"
#include "supervisor/instruments/probes/probe_budget.h"
#include "supervisor/instruments/probes/probed_code.h"
#include "supervisor/linux/process_files.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/sampling/governor.h"
#include "supervisor/sampling/sample_timer.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

struct ProbeOptions {
  CodeAnalysis* maps = nullptr;
  double overhead_percent = 25;  // 0: no limit
  bool keep_hot = false;         // nothing is taken away for being hot
  bool derives = false;          // no probes where counts follow from others
};

/// Counts basic blocks beside sampling, by a breakpoint for each. Functions get theirs when they
/// are first called; what is hot loses them. Elsewhere threads run freely: no system call is
/// stopped at. Runs on the ptrace thread.
class ProbeCounter {
 public:
  ProbeCounter(ProbeOptions options, Outbox& outbox, Guardian& guardian, CostMeter& meter,
               SampleTimer& timer);

  /// The process has a new program, or is met for the first time. `tid` is one of its threads.
  /// `from_start`: it has not executed anything yet.
  void begin_process(TracedProcess& process, pid_t tid, bool from_start);
  /// A new process: it shares its parent's memory (vfork) or has a copy of it.
  void begin_child(TracedProcess& process, pid_t tid, const std::shared_ptr<ProbedCode>& origin);
  /// A child that is not to be followed, in its first stop: it is rid of its parent's breakpoints.
  void clean_child(TracedProcess& process, pid_t tid, const std::shared_ptr<ProbedCode>& origin);

  /// A stop for SIGTRAP. True where it is ours; the thread then runs again. False where the target
  /// itself is to have it.
  bool on_trap(Tracee& tracee, core::TimePoint now);
  /// Any other stop, before its meaning is looked at.
  void on_other_stop(Tracee& tracee);
  /// The thread is stopped for a sample, or for the first time: what is due is done.
  void look_after(Tracee& tracee, bool was_sampled);
  /// Lets a stopped thread run, delivering `signal`.
  void resume(Tracee& tracee, int signal);
  /// What the analyzer wants.
  void serve(const core::ProbeFunctions& wanted, TracedProcess& process);

  /// Sends what was counted for the process.
  void send_counts(const TracedProcess& process, core::ThreadId thread);
  /// Puts all bytes of the process back: its threads can then be detached one by one.
  void restore(TracedProcess& process);
  /// A stop for SIGTRAP after restore(): puts the thread back to the instruction that it has not
  /// done. False where the trap is the target's.
  bool on_retired_trap(Tracee& tracee);
  /// As ExactCounter's.
  bool make_detachable(Tracee& tracee, bool may_call);

  [[nodiscard]] core::Probing facts() const;

 private:
  void on_breakpoint(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers,
                     core::TimePoint now);
  void on_entry(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers);
  void pass_loader(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers);
  void on_step(Tracee& tracee, ptrace::Registers& registers, core::TimePoint now);
  void pass(Tracee& tracee, BreakpointSite& site, core::TimePoint now);
  void cross(Tracee& tracee, BreakpointSite& site, core::Address to, core::TimePoint now);
  void go(Tracee& tracee);
  void hit_is_over(Tracee& tracee, core::TimePoint heard);
  void step_aside(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers,
                  core::TimePoint now);
  static void plant_again(ProbedCode& code, core::Address at);
  void leave_aside(Tracee& tracee);
  void pull_out(const Tracee& tracee);
  void end_window(Tracee& tracee);
  void begin_window(Tracee& tracee, core::Address pc);
  bool note_step(Tracee& tracee, core::Address pc);
  void map(ProbedCode& code, core::Address address, std::optional<core::TimePoint> unseen);
  void cool(ProbedCode& code);
  void arm(Tracee& tracee);
  enum class When : std::uint8_t {
    at_start,   // nothing was executed yet
    at_load,    // nothing of what is new was
    at_attach,  // it may be being executed
  };
  void watch_modules(TracedProcess& process, pid_t tid, When when);
  void insert_loader_breakpoint(ProbedCode& code, const ProcessFiles& files,
                                const std::vector<core::Mapping>& maps);
  void unblock_trap(Tracee& tracee);
  void keep_handler(const Tracee& tracee);
  void only_sample(const Tracee& tracee);
  [[nodiscard]] bool is_exceeded() const;
  [[nodiscard]] core::Duration target_cpu() const;
  void spend(core::Duration cost);
  void note_totals(const ProbedCode& code);
  [[nodiscard]] bool trap_is_pending(const Tracee& tracee, core::Address pc) const;

  ProbeOptions options_;
  Outbox& outbox_;
  Guardian& guardian_;
  CostMeter& meter_;
  SampleTimer& timer_;
  ProbeBudget budget_;
  HitCost hit_cost_;
  core::TimePoint next_maps_;
  std::atomic<std::uint64_t> hits_{0};
  std::atomic<std::uint64_t> functions_{0};
  std::atomic<std::uint64_t> planted_{0};
  std::atomic<std::uint64_t> derived_{0};
  std::atomic<std::uint64_t> removed_{0};
  std::atomic<std::uint64_t> windows_{0};
  std::atomic<std::uint64_t> steps_{0};
  std::atomic<std::int64_t> cost_{0};
};

}  // namespace sp::supervisor
