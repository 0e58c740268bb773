#include <algorithm>

#include "arch/native.h"
#include "supervisor/instruments/probes/function_trace.h"
#include "supervisor/instruments/probes/hit_counter.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/linux/target_memory.h"

// Events that copies write: they are noted as if breakpoints had told of them.
namespace sp::supervisor {

using arch::Native;
using core::Address;

namespace {

/// The copy has counted an execution of the function's entry that is no call of its own.
void uncount_entry(ProbedCode& code, Address entry) {
  const auto copy = code.copies().all().of(entry);
  const auto block = copy != nullptr ? copy->block_of(entry) : std::nullopt;
  if (block) {
    code.copies().correct({copy->blocks[*block].counter, -1, 0, 0, 0});
  }
}

}  // namespace

bool FunctionTrace::read_copies(const Tracee& tracee, bool is_all) {
  ProbedThread& thread = probed_thread(tracee);
  if (thread.counts_in == nullptr || !uses_copies()) {
    return false;
  }
  const bool is_noted = thread.out_of_copy && thread.out_of_copy->is_transferred;
  const std::uint32_t left = is_all && !is_noted ? 0 : 1;
  const auto taken = thread.counts_in->slots->take_events(thread.tid, left);
  if (!thread.counted || (taken.events.empty() && taken.lost == 0 && thread.ring_losses.empty())) {
    return false;
  }
  ticks_.update();
  if (taken.lost > 0) {
    thread.ring_losses.push_back({taken.lost_behind, taken.lost});
  }
  const TraceState& state = *probed_code(*tracee.process).trace();
  for (const CounterSlots::Event& event : taken.events) {
    if (event.place < state.event_places.size()) {
      note_event(tracee, state.event_places[event.place], event.sp, event.word,
                 ticks_.at(event.ticks));
    }
    if (event.waited != 0) {
      const core::Duration waited = ticks_.duration(event.waited);
      steal(tracee, waited, ticks_.at(event.ticks));
      counter_.add_waiting(waited);
    }
    note_event_of_ring(tracee);
  }
  for (; left == 0 && !thread.ring_losses.empty(); thread.ring_losses.pop_front()) {
    note_lost(tracee, thread.ring_losses.front().lost);
  }
  return taken.are_many;
}

void FunctionTrace::note_event_of_ring(const Tracee& tracee) {
  auto& losses = probed_thread(tracee).ring_losses;
  for (ProbedThread::RingLoss& loss : losses) {
    --loss.behind;
  }
  for (; !losses.empty() && losses.front().behind == 0; losses.pop_front()) {
    note_lost(tracee, losses.front().lost);
  }
}

void FunctionTrace::read_copies(ProbedCode& code, bool is_all) {
  if (!uses_copies() || code.copy_space() == nullptr) {
    return;
  }
  for (const Tracee* const tracee : tracees_->in(code)) {
    if (tracee->thread_state != nullptr) {
      (void)read_copies(*tracee, is_all);
    }
  }
}

void FunctionTrace::note_event(const Tracee& tracee, const EventPlace& place, Address sp,
                               Address word, core::TimePoint at) {
  ProbedThread& thread = probed_thread(tracee);
  ProbedCode& code = probed_code(*tracee.process);
  ThreadTrace& trace = trace_of(tracee, sp, at);
  thread.last_event = at = std::max(at, thread.last_event);
  switch (place.kind) {
    case EventPlace::Kind::entry:
      if (thread.comes_again == ProbedThread::ComesAgain{place.at, sp}) {
        thread.comes_again = {};
        uncount_entry(code, place.at);
        break;
      }
      if (code.function(place.function).logs_argument) {
        trace.enter(place.function, sp, at, word, false, word.value());
        break;
      }
      look_for_handler(tracee, trace, word);
      trace.enter(place.function, sp, at, word);
      break;
    case EventPlace::Kind::resumed:
      trace.resume(place.function, sp, at);
      break;
    case EventPlace::Kind::ret:
      if (!trace.is_inside(place.function, sp)) {
        trace.leave(place.function, false, sp, at);
      }
      break;
    case EventPlace::Kind::tail:
      if (trace.is_inside(place.function, sp)) {
        thread.comes_again = {place.to, sp};  // with its frame: no call
      } else {
        trace.jump(place.function, false, sp, at);
      }
      break;
  }
  if (trace.size() >= kEventsInBatch && limits_.when_full != core::WhenFull::keep) {
    deliver(code, trace, at);
  }
}

void FunctionTrace::note_lost(const Tracee& tracee, std::uint64_t lost) {
  const ProbedThread& thread = probed_thread(tracee);
  if (lost > 0 && thread.trace != nullptr) {
    thread.trace->lose(lost);
  } else {
    lost_ += lost;
  }
}

void FunctionTrace::note_unseen(const Tracee& tracee, const core::FunctionCopy& copy,
                                const ptrace::Registers& registers, core::TimePoint now) {
  const Address pc = Native::pc(registers);
  const auto block = copy.block_of(pc);
  const TraceState& state = *probed_code(*tracee.process).trace();
  if (!uses_copies() || !block || copy.blocks[*block].event_at != pc ||
      !probed_thread(tracee).counted) {
    return;
  }
  (void)read_copies(tracee, true);
  ThreadMemory memory(tracee.id.tid);
  const EventPlace& place = state.event_places[copy.blocks[*block].event_place];
  const bool has_argument = probed_code(*tracee.process).function(place.function).logs_argument;
  const Address word = has_argument ? Address{Native::argument(registers, 0, memory).value_or(0)}
                                    : Native::return_address(registers, memory).value_or(Address{});
  note_event(tracee, place, Native::sp(registers), word, now);
}

}  // namespace sp::supervisor
