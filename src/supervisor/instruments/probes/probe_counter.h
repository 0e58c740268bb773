#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <vector>

#include "core/call_query.h"
#include "core/clock.h"
#include "core/messages.h"
#include "core/run_facts.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/instruments/code_analysis.h"
#include "supervisor/instruments/instrument.h"
#include "supervisor/instruments/probes/call_counter.h"
#include "supervisor/instruments/probes/exploration.h"
#include "supervisor/instruments/probes/function_trace.h"
#include "supervisor/instruments/probes/gate_keeper.h"
#include "supervisor/instruments/probes/hit_counter.h"
#include "supervisor/instruments/probes/module_probes.h"
#include "supervisor/instruments/probes/probe_costs.h"
#include "supervisor/instruments/probes/probe_hits.h"
#include "supervisor/instruments/probes/probe_maintenance.h"
#include "supervisor/instruments/probes/probed_code.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/instruments/probes/promotion.h"
#include "supervisor/instruments/probes/trace_switch.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

struct ProbeOptions {
  CodeAnalysis* analysis = nullptr;
  double overhead_percent = 25;      // 0: no limit
  bool keep_hot_probes = false;      // every process has probes from its first instruction, and no
                                     // probe is removed because it is hot
  bool derives = false;              // blocks whose counts follow from others get no probe
  bool begins_with_samples = false;  // no probe comes before the first sample (--delay)
  bool copies = true;                // hot functions run from instrumented copies
  bool copies_at_once = false;       // all do, from their first call on, whatever that costs
  core::Coverage coverage = core::Coverage::off;  // else keep_hot_probes, and no copies
  std::optional<TraceLimits> trace{};             // functions are traced; copies: as they say
  bool begins_off = false;                        // with `trace`: until it is switched on
  std::vector<core::TraceTrigger> triggers{};     // likewise
  std::optional<core::Duration> learn_for{};      // likewise: TraceLearning
  /// Calls are counted, and nothing else, in all processes from their first instruction on. No
  /// trace; copies only if nothing else is asked of calls.
  std::optional<core::CallQuery> calls{};
};

/// Counts basic blocks beside sampling, by a probe (a breakpoint) for each. A function's blocks get
/// theirs when it is first called; hot probes are removed. Everything else runs freely: threads do
/// not stop at system calls.
class ProbeCounter final : public Instrument {
 public:
  ProbeCounter(ProbeOptions options, Outbox& outbox, Guardian& guardian, CostMeter& meter,
               SampleTimer& timer, TraceeTable& tracees, TraceRequests& trace_requests);

  [[nodiscard]] InstrumentNeeds needs() const override {
    const bool begins_off = options_.begins_off || options_.begins_with_samples;
    return {.a_thread = calls_ || ((trace_ || options_.keep_hot_probes) && !begins_off),
            .rounds = trace_ && trace_->uses_copies()};
  }
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
  void on_sample(Tracee& tracee) override;
  bool on_round() override;
  void on_exit(Tracee& tracee) override;
  [[nodiscard]] bool biases_sample(const Tracee& tracee, core::TimePoint asked_at) const override;
  void resume(Tracee& tracee, int signal) override;
  void serve(const core::ProbeFunctions& wanted, TracedProcess& process) override {
    maintenance_.serve(wanted, process);
  }
  void serve(const core::TraceRequest& request) override;
  void flush(const TracedProcess& process, core::ThreadId thread) override;
  [[nodiscard]] bool wants_last_maps(const TracedProcess& process) const override;
  [[nodiscard]] bool has_other_mask(const Tracee& tracee) const override {
    return tracee.thread_state != nullptr && probed_thread(tracee).mask.blocks_trap();
  }
  [[nodiscard]] bool make_detachable(Tracee& tracee, bool may_call) override;
  void resume_to_detach(Tracee& tracee, int signal) override;
  void restore(const TracedProcess& process) override;
  void fill(core::RunFacts& facts) const override;

 protected:
  [[nodiscard]] std::shared_ptr<InstrumentedCode> copy_code(const TracedProcess& child, pid_t tid,
                                                            const ForkOrigin& origin) override;

 private:
  void connect_trace();
  void charge_child(ProbedCode& parent, core::Duration cost);

  ProbeOptions options_;
  RunCoverage coverage_;
  Guardian& guardian_;
  ProbeCosts costs_;
  ModuleProbes modules_;
  Exploration exploration_;
  HitCounter counter_;
  std::optional<TraceLearning> learning_;  // with trace_, which has it
  std::optional<FunctionTrace> trace_;
  std::optional<CallCounter> calls_;
  Promotion promotion_;
  ProbeMaintenance maintenance_;
  std::optional<TraceSwitch> switch_;  // with trace_
  TraceeTable& tracees_;
  GateKeeper gates_;
  ProbeHits hits_;
  pid_t named_ = 0;  // by the user: the first process
};

}  // namespace sp::supervisor
