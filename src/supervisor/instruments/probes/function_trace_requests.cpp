#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "arch/native.h"
#include "supervisor/instruments/probes/function_trace.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/instruments/probes/program_event.h"
#include "supervisor/instruments/probes/trace_places.h"
#include "supervisor/linux/target_memory.h"
#include "supervisor/unwinding/native_frames.h"

// What calls are made with, what they set off (--trigger), and what is asked of a trace while it
// runs.
namespace sp::supervisor {

using core::Address;

void FunctionTrace::look_at(const Tracee& tracee, const BreakpointSite& site,
                            const ptrace::Registers& registers) {
  (void)read_copies(tracee, true);  // they tell on which stack it was
  ProbedThread& thread = probed_thread(tracee);
  ProbedCode& code = probed_code(*tracee.process);
  const ProbedFunction& function = code.function(code.block_of(site).function);
  const bool is_elsewhere =
      thread.trace != nullptr && !thread.trace->is_on_same_stack(arch::Native::sp(registers));
  thread.returns_to = {};
  if (limits_.has_sites || is_elsewhere) {
    ThreadMemory memory(tracee.id.tid);
    thread.returns_to = arch::Native::return_address(registers, memory).value_or(Address{});
  }
  const EventSled* const sled = event_at(function, site.instruction);
  thread.says = sled != nullptr ? program_event(tracee, *sled, registers) : std::nullopt;
  if (triggers_.look_at_arguments() || function.logs_argument) {
    const auto call = arch::NativeTrapHandler::call_of_function(registers);
    TraceTriggers::Arguments& arguments = thread.arguments;
    arguments.front() = call.number;
    std::copy_n(call.arguments.begin(), arguments.size() - 1, arguments.begin() + 1);
  }
}

void FunctionTrace::note_entry(Tracee& tracee, const ProbedFunction& function, ThreadTrace& trace,
                               Address sp, core::TimePoint now) {
  const ProbedThread& thread = probed_thread(tracee);
  if (function.triggers != 0) {
    // A call that switches it on is the first one, and one that switches it off is left out.
    ask(triggers_.on_entry(function.triggers, trace.depth_of(function.number, sp) + 1,
                           thread.arguments),
        &tracee);
  }
  look_for_handler(tracee, trace, thread.returns_to);
  trace.enter(function.number, sp, now, thread.returns_to,
              triggers_.watches_end(function.triggers) || is_learning(),
              function.logs_argument ? std::optional(thread.arguments.front()) : std::nullopt);
}

/// The kernel calls a handler so that it returns to rt_sigreturn.
void FunctionTrace::look_for_handler(const Tracee& tracee, ThreadTrace& trace, Address returns_to) {
  if (!trace.is_elsewhere() || returns_to == Address{}) {
    return;
  }
  auto& known = probed_code(*tracee.process).trace()->signal_returns;
  const auto [place, is_new] = known.try_emplace(returns_to, false);
  if (is_new) {
    std::array<std::byte, 16> code{};
    ThreadMemory memory(tracee.id.tid);
    place->second = memory.read(returns_to, code) && NativeFrames::is_signal_return({}, code);
  }
  if (place->second) {
    trace.expect_handler();
  }
}

void FunctionTrace::note_ended(ProbedCode& code, ThreadTrace& trace) {
  for (const ThreadTrace::EndedCall& call : trace.take_ended()) {
    ask(triggers_.on_end(code.function(call.function).triggers, call.depth, call.took), nullptr);
    if (is_learning()) {
      learning_->note_ended(code, call);
    }
  }
}

void FunctionTrace::ask(const std::vector<core::TraceAction>& actions, const Tracee* hit) {
  for (const core::TraceAction action : actions) {
    if (action == core::TraceAction::on || action == core::TraceAction::off) {
      switch_(action, hit);
    } else {
      requests_.ask({action, 0});
    }
  }
}

void FunctionTrace::clear(ProbedCode& code) {
  read_copies(code, false);
  TraceState& state = *code.trace();
  std::erase_if(state.threads, [](const auto& trace) { return trace.use_count() == 1; });
  for (const auto& trace : state.threads) {
    cleared_ += trace->size();
    trace->clear(core::Clock::now());
  }
}

void FunctionTrace::tell(core::TraceRequest change, core::TimePoint now) {
  outbox_.deliver({{}, {}, now, std::move(change)});
}

}  // namespace sp::supervisor
