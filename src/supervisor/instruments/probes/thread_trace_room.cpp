#include <algorithm>
#include <utility>

#include "supervisor/instruments/probes/thread_trace.h"

// Which events stay, and what a delivery has of them.
namespace sp::supervisor {
namespace {

using core::TraceEvent;
using core::TraceEventKind;

/// Not an event of its own: it tells of the one behind it.
bool goes_before(TraceEventKind kind) {
  return kind == TraceEventKind::stolen || kind == TraceEventKind::stack ||
         kind == TraceEventKind::value;
}

}  // namespace

/// With WhenFull::keep: all but the newest.
void ThreadTrace::drop_oldest() {
  auto end = events_.begin();
  for (; own_ > limits_.buffer; ++end) {
    if (end->kind() == TraceEventKind::stack) {
      first_stack_ = end->function;
    } else if (end->kind() == TraceEventKind::stolen) {
      first_stolen_ = end->ticks;
    }
    own_ -= goes_before(end->kind()) || end->kind() == TraceEventKind::data ? 0 : 1;
  }
  for (; end != events_.end() && end->kind() == TraceEventKind::data; ++end) {
  }
  const auto surplus = static_cast<std::uint64_t>(end - events_.begin());
  events_.erase(events_.begin(), end);
  first_ += surplus;
  lost_ += surplus;
}

void ThreadTrace::lose(std::uint64_t events) {
  lost_ += events;
  first_ += events_.empty() ? events : 0;
}

ThreadTrace::Taken ThreadTrace::take() {
  if (limits_.when_full == core::WhenFull::keep) {
    drop_oldest();
  }
  // What was discarded came behind the events.
  const bool has_loss = limits_.when_full != core::WhenFull::discard || events_.empty();
  Taken taken{std::exchange(events_, {}), first_, has_loss ? std::exchange(lost_, 0) : 0};
  first_ += taken.events.size();
  own_ = 0;
  if (taken.lost != 0 && !taken.events.empty()) {
    say_where_it_goes_on(taken.events);
  }
  first_stack_ = static_cast<std::uint32_t>(written_stack_);
  first_stolen_ = static_cast<std::uint64_t>(written_stolen_.count());
  return taken;
}

/// Behind a loss: what was stolen by then, and on which stack the thread is. The ticks of stolen
/// and value events are no times.
void ThreadTrace::say_where_it_goes_on(std::vector<TraceEvent>& events) const {
  if (first_stolen_ != 0 && events.front().kind() != TraceEventKind::stolen) {
    events.insert(events.begin(), TraceEvent::at(TraceEventKind::stolen, first_stolen_, 0, 0));
  }
  const auto behind_stolen =
      std::find_if(events.begin(), events.end(),
                   [](const TraceEvent& event) { return event.kind() != TraceEventKind::stolen; });
  const auto timed = std::find_if(behind_stolen, events.end(), [](const TraceEvent& event) {
    return event.kind() != TraceEventKind::value;
  });
  if (timed != events.end()) {
    events.insert(behind_stolen,
                  TraceEvent::at(TraceEventKind::stack, timed->ticks, first_stack_, 0));
  }
}

}  // namespace sp::supervisor
