#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/clock.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/guardian/guardian.h"
#include "supervisor/instruments/exact/flow_recorder.h"
#include "supervisor/instruments/exact/syscall_effects.h"
#include "supervisor/instruments/exact/thread_runner.h"
#include "supervisor/instruments/instrument.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

struct ExactOptions {
  bool inserts_breakpoints = true;   // false: every instruction is a single step
  CodeAnalysis* collects = nullptr;  // CollectSwitch
  /// Processes that could not outlive us while they are stepped are let go, and not counted.
  bool only_survivors = false;
};

/// Counts every edge that threads take (--single), by breakpoints inserted ahead of them. Control
/// comes to unknown code: it is decoded up to the instruction that ends the block, and the
/// breakpoint is inserted there before the thread goes on. At a breakpoint the tracer emulates the
/// displaced instruction. Code that cannot hold breakpoints is single-stepped.
///
/// Threads stop on both sides of system calls: these change maps, return from handlers, and show
/// which code behind them is really executed.
class ExactCounter final : public Instrument {
 public:
  ExactCounter(ExactOptions options, Outbox& outbox, Guardian& guardian);

  [[nodiscard]] InstrumentNeeds needs() const override { return {.every_thread = true}; }
  void begin_process(TracedProcess& process, pid_t tid, bool from_start) override;
  void before_exec(Tracee& caller, pid_t tid) override;
  [[nodiscard]] ForkOrigin origin_of(const Tracee& parent) const override;
  void add_thread(Tracee& tracee, bool counted) override;
  void inherit(Tracee& tracee, const ForkOrigin& origin) override;
  [[nodiscard]] bool on_trap(Tracee& tracee, core::TimePoint now) override;
  void on_syscall(Tracee& tracee, core::TimePoint now) override;
  void on_other_stop(Tracee& tracee) override;
  [[nodiscard]] bool on_group_stop(Tracee& tracee) override;
  void on_user_stop(Tracee& tracee, UserStop stop, core::TimePoint now) override;
  [[nodiscard]] bool may_deliver_trap(Tracee& tracee) override;
  void resume(Tracee& tracee, int signal) override;
  void flush(const TracedProcess& process, core::ThreadId thread) override;
  [[nodiscard]] bool has_other_mask(const Tracee& tracee) const override {
    return tracee.thread_state != nullptr && counted_thread(tracee).mask.blocks_trap();
  }
  [[nodiscard]] bool make_detachable(Tracee& tracee, bool may_call) override;
  void resume_to_detach(Tracee& tracee, int signal) override;
  void on_syscall_to_detach(Tracee& tracee) override { SyscallEffects::on_stop_to_detach(tracee); }
  void fill(core::RunFacts& facts) const override;

 protected:
  [[nodiscard]] std::shared_ptr<InstrumentedCode> copy_code(const TracedProcess& child, pid_t tid,
                                                            const ForkOrigin& origin) override;

 private:
  void begin_thread(Tracee& tracee, core::Address pc, core::TimePoint now);
  void install_handler(const Tracee& tracee);
  [[nodiscard]] bool is_let_go(Tracee& tracee);
  void on_breakpoint(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers,
                     core::TimePoint now);
  void on_gate(Tracee& tracee, BreakpointSite& gate, ptrace::Registers& registers);
  void on_step(Tracee& tracee, ptrace::Registers& registers, core::TimePoint now);
  void on_handler_entry(Tracee& tracee, const ptrace::Registers& registers, core::TimePoint now);

  ExactOptions options_;
  Guardian& guardian_;
  CollectSwitch collect_;
  FlowRecorder flow_;
  SyscallEffects syscalls_;
  ThreadRunner runner_;
  std::atomic<std::uint64_t> stops_{0};
};

}  // namespace sp::supervisor
