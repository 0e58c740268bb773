#include "supervisor/instruments/probes/function_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arch/native.h"
#include "core/mapping.h"
#include "supervisor/instruments/probes/call_counter.h"
#include "supervisor/instruments/probes/exit_sled.h"
#include "supervisor/instruments/probes/hit_counter.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/instruments/probes/trace_places.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {
namespace {

using core::Address;
using core::TraceEventKind;

constexpr core::Duration kLongestHeld = std::chrono::milliseconds(200);

struct StackRange {
  core::AddressRange mapped;
  bool grows = false;
};

/// The mapping that holds a stack pointer. Reading them takes long in a process with thousands of
/// stacks: from some time on what is within a megabyte counts as one.
StackRange stack_around(pid_t tid, Address sp, core::Duration& spent) {
  constexpr core::Duration kMost = std::chrono::milliseconds(200);
  constexpr std::uint64_t kGuess = std::uint64_t{1} << 20U;
  const core::TimePoint begin = core::Clock::now();
  const auto text =
      spent < kMost ? read_proc(fmt::format("/proc/{}/maps", tid)) : core::Result<std::string>("");
  StackRange found{
      {Address{sp.value() / kGuess * kGuess}, Address{(sp.value() / kGuess + 1) * kGuess}}};
  for (const core::Mapping& mapping : core::parse_maps(text ? *text : std::string())) {
    if (mapping.range.contains(sp)) {
      found = {mapping.range, mapping.path == "[stack]"};
    }
  }
  spent += core::Clock::now() - begin;
  return found;
}

core::TracedFunction<Address> described(const ProbedFunction& function) {
  return {function.bounds.begin, function.bounds.size(), function.is_part, function.trace_until,
          function.is_overwritten};
}

/// Numbers call sites in the order in which entries first name them.
void number_sites(core::FunctionsTraced& batch) {
  std::unordered_map<std::uint64_t, std::uint64_t> numbers;
  for (core::TraceEvent& event : batch.events) {
    if (event.kind() == TraceEventKind::entry || event.kind() == TraceEventKind::open) {
      const auto [known, is_new] = numbers.try_emplace(event.ticks, batch.sites.size());
      if (is_new) {
        batch.sites.emplace_back(event.ticks);
      }
      event.ticks = known->second;
    }
  }
}

/// The same of functions.
void name_functions(ProbedCode& code, core::FunctionsTraced& batch) {
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  for (core::TraceEvent& event : batch.events) {
    if (!core::names_function(event.kind())) {
      continue;
    }
    const auto [known, is_new] =
        numbers.try_emplace(event.function, static_cast<std::uint32_t>(batch.functions.size()));
    if (is_new) {
      batch.functions.push_back(described(code.function(event.function)));
    }
    event.function = known->second;
  }
}

}  // namespace

ThreadTrace& FunctionTrace::trace_of(const Tracee& tracee, Address sp, core::TimePoint now,
                                     core::AddressRange known_stack) {
  ProbedThread& thread = probed_thread(tracee);
  TraceState& state = *probed_code(*tracee.process).trace();
  if (thread.trace == nullptr) {
    deliver_ended(probed_code(*tracee.process));
    thread.trace = std::make_shared<ThreadTrace>(tracee.process->id, tracee.id, limits_);
    state.threads.push_back(thread.trace);
    if (state.was_off) {
      thread.trace->pause(now);
    }
    if (!state.is_off) {
      thread.trace->begin(now);
    }
  }
  if (!thread.trace->is_on_known_stack(sp)) {
    const StackRange stack = known_stack.contains(sp)
                                 ? StackRange{known_stack, false}
                                 : stack_around(tracee.id.tid, sp, state.looks_for_stacks);
    thread.trace->use_stack(stack.mapped, stack.grows);
  }
  return *thread.trace;
}

/// Of threads that are gone nothing comes any more.
void FunctionTrace::deliver_ended(ProbedCode& code) {
  TraceState& state = *code.trace();
  for (const auto& trace : state.threads) {
    if (trace.use_count() == 1) {
      deliver(code, *trace, core::Clock::now());
    }
  }
  std::erase_if(state.threads, [](const auto& trace) { return trace.use_count() == 1; });
}

void FunctionTrace::note(Tracee& tracee, const BreakpointSite& site, Address sp,
                         std::optional<Address> to, core::TimePoint now) {
  (void)read_copies(tracee, true);
  ProbedThread& thread = probed_thread(tracee);
  ProbedCode& code = probed_code(*tracee.process);
  ProbedBlock& block = code.block_of(site);
  ProbedFunction& function = code.function(block.function);
  const Address at = site.instruction.address;
  const TracePlace place =
      trace_place(code.functions(), function, function.unresolved, block.start, block.last);
  thread.last_place = at;
  thread.sp_of_last_place = sp;
  const bool is_again = thread.comes_again == ProbedThread::ComesAgain{at, sp};
  if (is_again) {
    thread.comes_again = {};
  }
  const bool is_call = place.enters && at == block.start && !is_again;
  counter_.note_hit();
  if (learning_ != nullptr) {
    learning_->note_hit(code, function, is_call);
  }
  // What is counted after a time without places would pass for all that there was.
  if (is_call && thread.counted && !block.until) {
    code.count(block, now);
  } else {
    code.note_uncounted_execution(block, now);
  }
  if (!thread.counted) {
    return;
  }
  ThreadTrace& trace = trace_of(tracee, sp, now);
  if (is_call) {
    note_entry(tracee, function, trace, sp, now);
  } else if (place.resumes && at == block.start) {
    trace.resume(function.number, sp, now);
  }
  if (place.leaves && at == block.last.address && to) {
    note_exit(tracee, function, site, sp, *to, now);
  } else if (const auto says = std::exchange(thread.says, std::nullopt)) {
    trace.note(*says, now);
  }
  note_ended(code, trace);
  if (trace.size() >= kEventsInBatch && limits_.when_full != core::WhenFull::keep) {
    deliver(code, trace, now);
  } else {
    flush_if_due(code);
  }
}

void FunctionTrace::note_exit(Tracee& tracee, ProbedFunction& function, const BreakpointSite& site,
                              Address sp, Address to, core::TimePoint now) {
  ProbedThread& thread = probed_thread(tracee);
  ProbedCode& code = probed_code(*tracee.process);
  if (site.instruction.flow == core::Flow::ret) {
    // With more on the stack than at the entry it is a jump to what was pushed.
    if (!thread.trace->is_inside(function.number, sp)) {
      thread.trace->leave(function.number, function.is_part, sp, now);
    }
    return;
  }
  const std::uint32_t number = function.number;
  const bool is_part = function.is_part;
  if (function.bounds.contains(to)) {
    if (to == function.bounds.begin) {
      thread.comes_again = {to, sp};
    } else if (code.needs_instrumentation(to)) {
      counter_.discover(code, to, std::nullopt);
    }
    return;
  }
  ProbedFunction* const other = code.functions().at(to);
  if (other != nullptr && (other->is_part || other->bounds.begin != to)) {
    if (code.needs_instrumentation(to)) {
      counter_.discover(code, to, std::nullopt);
    }
    return;
  }
  if (other != nullptr && thread.trace->is_inside(number, sp)) {
    thread.comes_again = {to, sp};  // with its frame: no call
    return;
  }
  if (other == nullptr && is_in_exit_sled(tracee, site)) {
    thread.trace->leave(number, is_part, sp, now);
    return;
  }
  thread.trace->jump(number, is_part, sp, now);
}

void FunctionTrace::add_stolen(const Tracee& tracee, core::Duration cost) {
  steal(tracee, cost, {});
  const auto& state = probed_code(*tracee.process).trace();
  if (state && state->recorder != nullptr && state->recorder->learning_ != nullptr) {
    state->recorder->learning_->end_hit(tracee);
  }
}

void FunctionTrace::steal(const Tracee& tracee, core::Duration time, core::TimePoint since) {
  CallCounter::add_stolen(tracee, time);
  if (const auto& trace = probed_thread(tracee).trace) {
    trace->add_stolen(time, since);
  }
}

void FunctionTrace::end_stop(Tracee& tracee) {
  ProbedThread& thread = probed_thread(tracee);
  const core::TimePoint begin = std::exchange(thread.stopped_at, core::TimePoint{});
  if (begin != core::TimePoint{}) {
    steal(tracee, core::Clock::now() - begin, begin);
  }
}

void FunctionTrace::finish(const TracedProcess& process, TraceEventKind kind, core::TimePoint now) {
  const TraceState& state = *probed_code(process).trace();
  if (state.recorder != nullptr) {
    state.recorder->read_copies(probed_code(process), true);
  }
  for (const auto& trace : state.threads) {
    if (trace->process() == process.id) {
      trace->finish(kind, now);
    }
  }
}

void FunctionTrace::flush_if_due(ProbedCode& code) {
  if (limits_.when_full != core::WhenFull::keep &&
      core::Clock::now() - code.trace()->delivered >= kLongestHeld) {
    flush(code);
  }
}

void FunctionTrace::flush(ProbedCode& code) {
  read_copies(code, false);
  const core::TimePoint now = core::Clock::now();
  TraceState& state = *code.trace();
  for (const auto& trace : state.threads) {
    deliver(code, *trace, now);
  }
  deliver_ended(code);
  core::FunctionsTraced ended;
  ended.process = code.owner();
  for (const std::uint32_t number : std::exchange(state.ended, {})) {
    const ProbedFunction& function = code.function(number);
    ended.functions.push_back(described(function));
    const bool is_learned = learning_ != nullptr && learning_->has_dropped(code, function);
    if (function.is_overwritten) {
      overwritten_starts_.insert(function.bounds.begin);
      overwritten_ = overwritten_starts_.size();
    } else if (!is_learned) {
      ++too_hot_;
    }
  }
  if (!ended.functions.empty()) {
    outbox_.deliver({code.owner(), {code.owner().pid, 0}, now, std::move(ended)});
  }
  state.delivered = now;
}

void FunctionTrace::deliver(ProbedCode& code, ThreadTrace& trace, core::TimePoint now) {
  while (trace.has_news()) {
    ThreadTrace::Taken taken = trace.take();
    core::FunctionsTraced batch{trace.process(), {},        std::move(taken.events), {},
                                taken.first,     taken.lost};
    if (limits_.has_sites) {
      number_sites(batch);
    }
    name_functions(code, batch);
    events_ += batch.events.size();
    lost_ += batch.lost;
    outbox_.deliver({code.owner(), trace.thread(), now, std::move(batch)});
  }
}

}  // namespace sp::supervisor
