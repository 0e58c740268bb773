#include "supervisor/instruments/probes/call_counter.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "arch/native.h"
#include "supervisor/instruments/probes/call_values.h"
#include "supervisor/instruments/probes/hit_counter.h"
#include "supervisor/instruments/probes/ifuncs.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/instruments/probes/trace_places.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {
namespace {

using core::Address;

CountedCalls& counted_calls(const Tracee& tracee) {
  auto& calls = probed_thread(tracee).calls;
  if (calls == nullptr) {
    calls = std::make_shared<CountedCalls>();
  }
  return *calls;
}

/// A copy does not tell a call from a jump back to the first instruction, nor what a resolver
/// returns.
void refuse_copy_where_needed(const ProbedCode& code, ProbedFunction& function) {
  const bool jumps_back =
      std::any_of(function.blocks.begin(), function.blocks.end(), [&](std::uint32_t number) {
        const core::Instruction& last = code.blocks()[number].last;
        return last.flow != core::Flow::call && last.target == function.bounds.begin;
      });
  if (jumps_back || function.is_resolver) {
    function.refusal = core::CopyRefusal::open_function;
  }
}

}  // namespace

CallCounter::CallCounter(core::CallQuery query, Outbox& outbox, HitCounter& counter)
    : query_(std::move(query)),
      outbox_(outbox),
      counter_(counter),
      is_plain_(query_.is_plain()),
      needs_returns_(query_.needs_returns()) {
  for (std::size_t i = 0; i < query_.values.size(); ++i) {
    if (query_.values[i].is_result()) {
      open_.push_back(i);
    }
  }
  tests_result_ = std::any_of(query_.conditions.begin(), query_.conditions.end(),
                              [](const auto& one) { return one.value.is_result(); });
}

TraceState CallCounter::new_state() {
  TraceState state;
  state.calls = this;
  state.has_exits = needs_returns_;
  state.call_table =
      CallTable(open_, query_.measured && query_.measured->type == core::ValueType::signed_number);
  return state;
}

// ---- before the instruction

void CallCounter::look_at(const Tracee& tracee, const BreakpointSite& site,
                          const ptrace::Registers& registers) const {
  ProbedCode& code = probed_code(*tracee.process);
  const ProbedFunction& function = code.function(code.block_of(site).function);
  const bool is_return = site.instruction.flow == core::Flow::ret;
  if (function.is_resolver && is_return) {
    note_resolved(code, function, Address{arch::Native::result(registers)});
  }
  if (is_plain_ || !probed_thread(tracee).counted) {
    return;
  }
  SeenCall& seen = counted_calls(tracee).seen;
  seen = {};
  if (site.instruction.address == function.bounds.begin) {
    look_at_entry(tracee, function.bounds.begin, registers, seen);
  }
  if (is_return && needs_returns_) {
    look_at_return(tracee, registers, seen);
  }
}

void CallCounter::look_at_entry(const Tracee& tracee, Address function,
                                const ptrace::Registers& registers, SeenCall& seen) const {
  CallValues values(tracee.id.tid, registers);
  for (const core::CallCondition& condition : query_.conditions) {
    if (!condition.value.is_result() && !values.holds(condition)) {
      return;
    }
  }
  CallTable::Beginning& beginning = seen.beginning.emplace();
  beginning.function = function;
  for (const core::CallValue& value : query_.values) {
    beginning.values.push_back(value.is_result() ? std::string() : values.text(value));
  }
  if (query_.by_caller) {
    ThreadMemory memory(tracee.id.tid);
    beginning.caller = arch::Native::return_address(registers, memory).value_or(Address{});
  }
  if (query_.by_thread) {
    beginning.thread = tracee.id;
  }
  if (query_.measured && !query_.measured->is_result()) {
    seen.measured = values.word(*query_.measured);
  }
}

void CallCounter::look_at_return(const Tracee& tracee, const ptrace::Registers& registers,
                                 SeenCall& seen) const {
  CallValues values(tracee.id.tid, registers);
  for (const core::CallCondition& condition : query_.conditions) {
    seen.result_holds =
        seen.result_holds && (!condition.value.is_result() || values.holds(condition));
  }
  for (const std::size_t place : open_) {
    seen.results.push_back(values.text(query_.values[place]));
  }
  if (query_.measured && query_.measured->is_result()) {
    seen.measured = values.word(*query_.measured);
  }
}

// ---- behind it

void CallCounter::note(Tracee& tracee, const BreakpointSite& site, Address sp,
                       std::optional<Address> to, core::TimePoint now) {
  ProbedThread& thread = probed_thread(tracee);
  ProbedCode& code = probed_code(*tracee.process);
  ProbedBlock& block = code.block_of(site);
  const ProbedFunction& function = code.function(block.function);
  const Address at = site.instruction.address;
  const TracePlace place =
      trace_place(code.functions(), function, function.unresolved, block.start, block.last);
  thread.sp_of_last_place = sp;
  const bool is_again = thread.comes_again == ProbedThread::ComesAgain{at, sp};
  if (is_again) {
    thread.comes_again = {};
  }
  const bool is_call = place.enters && at == block.start && !is_again;
  counter_.note_hit();
  if (!is_call || !thread.counted) {
    code.note_uncounted_execution(block, now);
  } else {
    if (block.hits == 0) {
      refuse_copy_where_needed(code, code.function(block.function));
    }
    code.count(block, now);
    if (!is_plain_) {
      begin(tracee, function, sp, now);
    }
  }
  if (place.leaves && at == block.last.address && to) {
    note_exit(tracee, function, site, sp, *to, now);
  }
}

void CallCounter::begin(Tracee& tracee, const ProbedFunction& function, Address sp,
                        core::TimePoint now) {
  CountedCalls& calls = counted_calls(tracee);
  CallTable& table = probed_code(*tracee.process).trace()->call_table;
  std::uint32_t number = CallTable::kNone;
  if (auto beginning = std::exchange(calls.seen.beginning, {})) {
    number = table.begin(std::move(*beginning));
    if (!needs_returns_) {
      table.count(number, {{}, calls.seen.measured});
    }
  }
  if (needs_returns_) {
    calls.open.enter(function.number, sp, now, number);
  }
}

void CallCounter::end(Tracee& tracee, const OpenCalls::Ended& ended, bool is_tail_call) {
  SeenCall& seen = counted_calls(tracee).seen;
  if (is_tail_call) {
    seen = {};
    seen.results.assign(open_.size(), "?");
    seen.result_holds = !tests_result_;
  }
  if (query_.has_durations) {
    seen.measured = static_cast<std::uint64_t>(std::max(ended.took, core::Duration{}).count());
  }
  if (seen.result_holds) {
    probed_code(*tracee.process)
        .trace()
        ->call_table.count(ended.number, {seen.results, seen.measured, is_tail_call});
  }
}

void CallCounter::note_exit(Tracee& tracee, const ProbedFunction& function,
                            const BreakpointSite& site, Address sp, Address to,
                            core::TimePoint now) {
  ProbedThread& thread = probed_thread(tracee);
  ProbedCode& code = probed_code(*tracee.process);
  if (to == function.bounds.begin && site.instruction.flow != core::Flow::ret) {
    thread.comes_again = {to, sp};
    return;
  }
  if (!needs_returns_) {
    return;
  }
  OpenCalls& open = counted_calls(tracee).open;
  const bool is_return = site.instruction.flow == core::Flow::ret;
  if (!is_return) {
    const ProbedFunction* const other = code.functions().at(to);
    const bool is_entry = other == nullptr || (!other->is_part && other->bounds.begin == to);
    if (function.bounds.contains(to) || !is_entry) {
      if (code.needs_instrumentation(to)) {
        counter_.discover(code, to, std::nullopt);
      }
      return;
    }
    if (other != nullptr && open.is_inside(function.number, sp)) {
      thread.comes_again = {to, sp};  // with its frame: no call
      return;
    }
  }
  if (const auto ended = open.leave(function.number, function.is_part, sp, now)) {
    end(tracee, *ended, !is_return);
  }
}

void CallCounter::add_stolen(const Tracee& tracee, core::Duration time) {
  if (const auto& calls = probed_thread(tracee).calls) {
    calls->open.add_stolen(time);
  }
}

void CallCounter::flush(ProbedCode& code) {
  CallTable& table = code.trace()->call_table;
  if (table.has_news()) {
    outbox_.deliver({code.owner(), {code.owner().pid, 0}, core::Clock::now(), table.take()});
  }
}

}  // namespace sp::supervisor
