#include "analyzer/analyzer.h"

#include <type_traits>
#include <utility>

#include "core/log.h"

namespace sp::analyzer {

Analyzer::Analyzer(std::unique_ptr<StackSource> stacks, core::Channel<core::StopEvent>& events,
                   core::Channel<core::Record>& records, core::Channel<core::Request>& requests,
                   std::function<void()> request_sent, std::optional<InstrumentationPolicy> policy)
    : stacks_(std::move(stacks)),
      events_(events),
      records_(records),
      requests_(requests),
      request_sent_(std::move(request_sent)),
      policy_(std::move(policy)) {}

void Analyzer::run() {
  while (auto event = events_.pop()) {
    handle(std::move(*event));
  }
  for (const core::ThreadId thread : waits_.threads()) {
    if (const auto held = waits_.take_held(thread)) {
      emit_waits({{}, thread, core::Clock::now(), {}}, *held);
    }
  }
  records_.close();
}

void Analyzer::handle(core::StopEvent event) {
  std::visit(
      [this, &event](auto& detail) {
        using Detail = std::decay_t<decltype(detail)>;
        if constexpr (std::is_same_v<Detail, core::Sampled> ||
                      std::is_same_v<Detail, core::OffCpuSample> ||
                      std::is_same_v<Detail, core::CodeCounted> ||
                      std::is_same_v<Detail, core::CodeProbed> ||
                      std::is_same_v<Detail, core::FunctionsTraced> ||
                      std::is_same_v<Detail, core::Crashed> ||
                      std::is_same_v<Detail, core::CallsCounted> ||
                      std::is_same_v<Detail, core::Stepped>) {
          on(event, detail);
        } else if constexpr (std::is_same_v<Detail, core::MappingSnapshot>) {
          stacks_->set_maps(event.process, event.thread, std::move(detail));
        } else if constexpr (std::is_same_v<Detail, core::ProcessStarted>) {
          stacks_->process_started(event.process, detail.parent);
          records_.push(core::ProcessSeen{event.process, detail.parent, std::move(detail.command)});
        } else if constexpr (std::is_same_v<Detail, core::ProcessEnded>) {
          stacks_->process_ended(event.process);
          cross_checks_.erase(event.process);
          if (policy_) {
            policy_->forget(event.process);
          }
        } else if constexpr (std::is_same_v<Detail, core::ThreadStarted>) {
          records_.push(
              core::ThreadSeen{event.process, event.thread, std::move(detail.name), event.time});
        } else if constexpr (std::is_same_v<Detail, core::ThreadEnded>) {
          if (const auto held = waits_.take_held(event.thread)) {
            emit_waits(event, *held);
          }
          waits_.forget(event.thread);
          if (!detail.name.empty()) {
            records_.push(
                core::ThreadSeen{event.process, event.thread, std::move(detail.name), event.time});
          }
        } else if constexpr (std::is_same_v<Detail, core::Lost>) {
          records_.push(core::SamplesLost{detail.samples});
        } else {
          static_assert(std::is_same_v<Detail, core::SnapshotWanted> ||
                        std::is_same_v<Detail, core::TraceRequest>);
          records_.push(detail);
        }
      },
      event.detail);
}

void Analyzer::on(const core::StopEvent& event, core::Sampled& sampled) {
  core::SampleTaken taken;
  taken.process = event.process;
  taken.thread = event.thread;
  taken.time = event.time;
  taken.with_stack = sampled.with_stack;
  taken.count = sampled.count;
  taken.stack = resolve(event, sampled.raw);
  if (sampled.with_stack && taken.stack.end == core::StackEnd::copy_ended) {
    request(core::LargerStackDump{event.thread});
  }
  if (policy_) {
    ask_for_probes(event, taken.stack);
  }
  records_.push(std::move(taken));
}

void Analyzer::on(const core::StopEvent& event, core::CodeCounted& counted) {
  const auto located = [&](core::Address address) {
    return stacks_->locate(event.process, address);
  };
  core::CodeCountsTaken taken{event.process, {}, {}};
  taken.runs.reserve(counted.runs.size());
  for (core::DynamicBlock<core::Address>& run : counted.runs) {
    taken.runs.push_back({located(run.start), std::move(run.lengths)});
  }
  taken.edges.reserve(counted.edges.size());
  for (const core::CodeEdge<core::Address>& edge : counted.edges) {
    taken.edges.push_back(
        {located(edge.from), located(edge.to), edge.flow, edge.hits, edge.first, edge.last});
  }
  emit_new_modules();
  records_.push(std::move(taken));
}

void Analyzer::on(const core::StopEvent& event, core::CodeProbed& probed) {
  const auto located = [&](core::Address address) {
    return stacks_->locate(event.process, address);
  };
  core::ProbeCountsTaken taken{event.process, {}};
  taken.code.blocks.reserve(probed.blocks.size());
  for (const core::ProbedBlock<core::Address>& block : probed.blocks) {
    taken.code.blocks.push_back({located(block.start), block.size, block.instructions, block.last,
                                 block.falls_through, block.hits, block.first_hit, block.last_hit,
                                 block.since, block.until, block.edges_until, block.is_jumped_to,
                                 block.is_known, block.flow, block.leads_to});
  }
  taken.code.functions.reserve(probed.functions.size());
  for (const core::CoverableFunction<core::Address>& function : probed.functions) {
    taken.code.functions.push_back({located(function.start), function.size, function.until});
  }
  taken.code.edges.reserve(probed.edges.size());
  for (const core::CodeEdge<core::Address>& edge : probed.edges) {
    taken.code.edges.push_back(
        {located(edge.from), located(edge.to), edge.flow, edge.hits, edge.first, edge.last});
  }
  emit_new_modules();
  records_.push(std::move(taken));
}

void Analyzer::on(const core::StopEvent& event, core::FunctionsTraced& traced) {
  core::TraceEventsTaken taken{traced.process, event.thread, {}};
  taken.batch.process = traced.process;
  taken.batch.functions.reserve(traced.functions.size());
  for (const core::TracedFunction<core::Address>& function : traced.functions) {
    taken.batch.functions.push_back({stacks_->locate(event.process, function.start), function.size,
                                     function.is_part, function.until, function.is_overwritten});
  }
  taken.batch.events = std::move(traced.events);
  taken.batch.sites.reserve(traced.sites.size());
  for (const core::Address site : traced.sites) {
    taken.batch.sites.push_back(stacks_->locate(event.process, site));
  }
  taken.batch.first = traced.first;
  taken.batch.lost = traced.lost;
  emit_new_modules();
  records_.push(std::move(taken));
}

void Analyzer::on(const core::StopEvent& event, core::CallsCounted& counted) {
  core::CallCountsTaken taken{event.process, {{}, counted.ungrouped}};
  taken.calls.groups.reserve(counted.groups.size());
  for (core::CallGroup<core::Address>& group : counted.groups) {
    const bool has_caller = group.caller != core::Address{};
    taken.calls.groups.push_back(
        {stacks_->locate(event.process, group.function), std::move(group.values),
         has_caller ? stacks_->locate(event.process, group.caller) : core::ModuleOffset{},
         group.thread, group.calls, group.tail_calls, std::move(group.measured)});
  }
  emit_new_modules();
  records_.push(std::move(taken));
}

void Analyzer::on(const core::StopEvent& event, core::Stepped& stepped) {
  Observation observation = cross_checks_[event.process].observe(stepped);
  core::CodeExplored explored;
  explored.windows = 1;
  explored.steps = observation.steps;
  explored.branches = observation.branches.size();
  explored.disagreements = observation.mismatches.size();
  for (const Mismatch& mismatch : observation.mismatches) {
    report(mismatch);
  }
  if (!observation.leaders.empty()) {
    request(core::ProbeFunctions{event.process, std::move(observation.leaders), {}});
  }
  records_.push(explored);
}

void Analyzer::report(const Mismatch& mismatch) {
  constexpr int kMostTold = 10;
  if (mismatches_told_ >= kMostTold) {
    return;
  }
  ++mismatches_told_;
  core::log_note("the instruction at {:#x} went to {:#x}, which contradicts its decoding",
                 mismatch.address.value(), mismatch.went_to.value());
}

void Analyzer::on(const core::StopEvent& event, core::OffCpuSample& waited) {
  if (waited.raw) {
    if (const auto held = waited.ticks != 0 ? waits_.take_held(event.thread) : std::nullopt) {
      emit_waits(event, *held);  // of an earlier wait that got no better stack
    }
    core::Stack stack = resolve(event, *waited.raw);
    // Without a stop only pc and sp are known. If they do not lead to the root, one stop does.
    const bool ask = waited.unstopped && core::is_truncated(stack.end);
    waits_.learn(event.thread, waited.wait_id, waited.syscall, std::move(stack), ask);
    if (ask) {
      request(core::StopBlocked{event.thread, waited.wait_id});
    }
  }
  if (const auto entry = waits_.count(event.thread, waited.wait_id, waited.ticks)) {
    emit_waits(event, *entry);
  }
}

void Analyzer::emit_waits(const core::StopEvent& event, const OffCpuTime::Entry& entry) {
  core::SampleTaken taken;
  taken.process = event.process;
  taken.thread = event.thread;
  taken.time = event.time;
  taken.kind = core::SampleKind::blocked;
  taken.blocked_in = entry.syscall;
  taken.stack = entry.stack;
  taken.count = entry.ticks;
  records_.push(std::move(taken));
}

core::Stack Analyzer::resolve(const core::StopEvent& event, const core::RawStack& raw) {
  core::Stack stack = stacks_->resolve(event.process, event.thread, raw);
  emit_new_modules();
  return stack;
}

void Analyzer::emit_new_modules() {
  for (core::Module& module : stacks_->take_new_modules()) {
    records_.push(core::ModuleSeen{std::move(module)});
  }
}

/// The supervisor knows which modules may be instrumented and ignores the others.
void Analyzer::ask_for_probes(const core::StopEvent& event, const core::Stack& stack) {
  std::vector<PolicyFrame> frames;
  for (const core::Frame& frame : stack.frames) {
    const auto address = stacks_->address_of(event.process, frame.where);
    frames.push_back({address.value_or(core::Address{}), frame.where, address.has_value()});
  }
  core::ProbeFunctions wanted{event.process, policy_->choose(event.process, frames), {}};
  if (!wanted.at.empty()) {
    request(std::move(wanted));
  }
}

void Analyzer::request(core::Request request) {
  // Requests are advice: they are dropped if the supervisor is too busy to take them.
  if (requests_.try_push(std::move(request))) {
    request_sent_();
  }
}

}  // namespace sp::analyzer
