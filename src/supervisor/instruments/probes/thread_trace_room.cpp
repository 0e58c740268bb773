#include <algorithm>
#include <utility>

#include "supervisor/instruments/probes/thread_trace.h"

// Which events stay, and what a delivery has of them.
namespace sp::supervisor {
namespace {

using core::TraceEvent;
using core::TraceEventKind;

/// False: it tells of the one beside it.
bool is_own(TraceEventKind kind) {
  return kind != TraceEventKind::stolen && kind != TraceEventKind::stack &&
         kind != TraceEventKind::value && kind != TraceEventKind::data;
}

/// Behind a loss: what was stolen by then, and on which stack the thread is. The ticks of stolen
/// and value events are no times.
void say_where_it_goes_on(std::vector<TraceEvent>& events, std::uint32_t stack,
                          std::uint64_t stolen) {
  if (stolen != 0 && events.front().kind() != TraceEventKind::stolen) {
    events.insert(events.begin(), TraceEvent::at(TraceEventKind::stolen, stolen, 0, 0));
  }
  const auto behind_stolen =
      std::find_if(events.begin(), events.end(),
                   [](const TraceEvent& event) { return event.kind() != TraceEventKind::stolen; });
  const auto timed = std::find_if(behind_stolen, events.end(), [](const TraceEvent& event) {
    return event.kind() != TraceEventKind::value;
  });
  if (timed != events.end()) {
    events.insert(behind_stolen, TraceEvent::at(TraceEventKind::stack, timed->ticks, stack, 0));
  }
}

}  // namespace

/// What the first of events_ is to find as known before it.
void ThreadTrace::pass(const TraceEvent& event) {
  if (event.kind() == TraceEventKind::stack) {
    first_stack_ = event.function;
  } else if (event.kind() == TraceEventKind::stolen) {
    first_stolen_ = event.ticks;
  }
  own_ -= is_own(event.kind()) ? 1 : 0;
}

void ThreadTrace::remove_first(std::size_t count) {
  const auto end = events_.begin() + static_cast<std::ptrdiff_t>(count);
  std::for_each(events_.begin(), end, [this](const TraceEvent& event) { pass(event); });
  events_.erase(events_.begin(), end);
  first_ += count;
  for (; !holes_.empty() && holes_.front().before <= first_; holes_.pop_front()) {
    lost_ += holes_.front().lost;
  }
}

/// With WhenFull::keep: all but the newest.
void ThreadTrace::drop_oldest() {
  const std::size_t surplus = own_ - std::min<std::size_t>(own_, limits_.buffer);
  auto end = events_.begin();
  for (std::size_t dropped = 0; dropped < surplus; ++end) {
    dropped += is_own(end->kind()) ? 1 : 0;
  }
  if (surplus > 0) {
    end = std::find_if(end, events_.end(), [](const TraceEvent& event) {
      return event.kind() != TraceEventKind::data;
    });
  }
  remove_first(static_cast<std::size_t>(end - events_.begin()));
  lost_ += surplus;
}

void ThreadTrace::lose(std::uint64_t events) {
  leave_hole(events);
  end_of_hole_ = next();
}

void ThreadTrace::leave_hole(std::uint64_t events) {
  if (events_.empty()) {
    lost_ += events;
  } else if (!holes_.empty() && holes_.back().before == next()) {
    holes_.back().lost += events;
  } else {
    holes_.push_back({next(), events});
  }
}

void ThreadTrace::take_back(std::uint64_t from) {
  events_.resize(from - first_);
  std::uint64_t lost = 0;
  for (; !holes_.empty() && holes_.back().before > from; holes_.pop_back()) {
    lost += holes_.back().lost;
  }
  if (lost > 0) {
    leave_hole(lost);
  }
}

ThreadTrace::Taken ThreadTrace::take() {
  if (limits_.when_full == core::WhenFull::keep) {
    drop_oldest();
  }
  Taken taken{{}, 0, std::exchange(lost_, 0)};
  const std::uint32_t stack = first_stack_;
  const std::uint64_t stolen = first_stolen_;
  if (holes_.empty()) {
    std::for_each(events_.begin(), events_.end(), [this](const TraceEvent& event) { pass(event); });
    first_ += events_.size();
    taken.events = std::exchange(events_, {});
  } else {
    const std::size_t count = holes_.front().before - first_;
    taken.events.assign(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(count));
    remove_first(count);
  }
  if (taken.lost != 0 && !taken.events.empty()) {
    say_where_it_goes_on(taken.events, stack, stolen);
  }
  taken.first = delivered_ + taken.lost;
  delivered_ = taken.first + taken.events.size();
  return taken;
}

}  // namespace sp::supervisor
