#include "profiler/trace/trace_walk.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

namespace sp::profiler {
namespace {

constexpr std::uint64_t kLastTicks = std::numeric_limits<std::uint64_t>::max();

/// Notes on which stacks there are calls.
class TrackFinder final : public CallVisitor {
 public:
  explicit TrackFinder(std::set<std::pair<std::uint32_t, std::uint32_t>>& tracks)
      : tracks_(tracks) {}
  void begin(const TracedCall& call) override { tracks_.emplace(call.thread, call.stack); }
  void end(const TracedCall& call) override { (void)call; }
  void note(const TracedEvent& event) override { tracks_.emplace(event.thread, event.stack); }

 private:
  std::set<std::pair<std::uint32_t, std::uint32_t>>& tracks_;
};

/// Passes on the calls of one stack.
class OneStack final : public CallVisitor {
 public:
  OneStack(std::uint32_t stack, CallVisitor& to) : stack_(stack), to_(to) {}
  void begin(const TracedCall& call) override {
    if (call.stack == stack_) {
      to_.begin(call);
    }
  }
  void end(const TracedCall& call) override {
    if (call.stack == stack_) {
      to_.end(call);
    }
  }
  void note(const TracedEvent& event) override {
    if (event.stack == stack_) {
      to_.note(event);
    }
  }

 private:
  const std::uint32_t stack_;
  CallVisitor& to_;
};

class NoVisitor final : public CallVisitor {
 public:
  void begin(const TracedCall& call) override { (void)call; }
  void end(const TracedCall& call) override { (void)call; }
};

}  // namespace

TraceWalk::TraceWalk(TraceReader& reader, const TraceView& view) : reader_(reader), view_(view) {
  sources_.function = [this](std::uint32_t number) {
    const TraceFunction* const function = reader_.function(number);
    return function == nullptr ? OpenFrames::Facts{} : OpenFrames::Facts{function->is_part};
  };
  // A part of a run has events that came late, from before it began.
  sources_.clock = [this](std::uint64_t ticks) {
    return std::max<std::int64_t>(0, reader_.clock().ns_at(ticks));
  };
  look_for_frames_before();
}

OpenFrames::Rules TraceWalk::rules() const {
  return {.calls_push = reader_.header().cpu != ContainerHeader::Cpu::aarch64,
          .raw_times = view_.raw_times};
}

void TraceWalk::look_for_frames_before() {
  OpenFrames::Rules looking = rules();
  looking.finds_before = true;
  looking.least_ns = view_.least_ns;
  looking.raw_times = looking.raw_times && view_.least_ns == 0;  // as they were measured
  TrackFinder finder(tracks_);
  std::map<std::uint32_t, OpenFrames> threads;
  std::vector<core::TraceEvent> events;
  for (const TraceReader::Place& place : reader_.places()) {
    if (!reader_.read(place, events)) {
      break;
    }
    OpenFrames& frames =
        threads.try_emplace(place.thread, place.thread, looking, sources_, finder).first->second;
    if (place.lost > 0) {
      frames.lose(place.lost);
    }
    for (const core::TraceEvent& event : events) {
      frames.add(event);
    }
  }
  for (auto& [thread, frames] : threads) {
    frames.finish();
    before_[thread] = frames.before();
    short_calls_[thread] = frames.short_calls();
    for (const FrameBefore& frame : before_[thread]) {
      tracks_.emplace(thread, frame.stack);
    }
    skipped_.frames += frames.skipped().frames;
    skipped_.lost += frames.skipped().lost;
  }
}

void TraceWalk::run(CallVisitor& to) {
  ShownCalls shown(view_, to);
  cut_ticks_.reset();
  walk(shown, shown, std::nullopt);
  passed_on_ = shown.passed_on();
  notes_ = shown.notes();
  if (shown.is_full()) {
    cut_ticks_ = last_ticks_;
  }
}

void TraceWalk::run_track(std::uint32_t thread, std::uint32_t stack, CallVisitor& to) {
  if (view_.limit > 0 && !cut_ticks_) {
    NoVisitor nobody;
    run(nobody);  // where the limit cuts depends on all threads
    passed_on_ = notes_ = 0;
  }
  TraceView view = view_;
  view.limit = 0;
  ShownCalls shown(view, to);
  OneStack only(stack, shown);
  walk(only, shown, thread);
  passed_on_ += shown.passed_on();
  notes_ += shown.notes();
}

void TraceWalk::walk(CallVisitor& visitor, const ShownCalls& shown,
                     std::optional<std::uint32_t> only) {
  std::map<std::uint32_t, Cursor> cursors;
  for (std::size_t i = 0; i < reader_.places().size(); ++i) {
    const std::uint32_t thread = reader_.places()[i].thread;
    if (!only || thread == *only) {
      auto found = cursors.find(thread);
      if (found == cursors.end()) {
        Cursor cursor{{}, 0, {}, 0, {thread, rules(), sources_, visitor, before_[thread]}};
        found = cursors.emplace(thread, std::move(cursor)).first;
        found->second.frames.leave_out(short_calls_[thread]);
      }
      found->second.places.push_back(i);
    }
  }
  using Next = std::pair<std::uint64_t, std::uint32_t>;  // ticks, thread
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  for (const auto& [thread, cursor] : cursors) {
    queue.emplace(next_ticks(cursor, 0), thread);
  }
  const std::uint64_t cut = only && cut_ticks_ ? *cut_ticks_ : kLastTicks;
  while (!queue.empty() && !shown.is_full()) {
    const auto [ticks, thread] = queue.top();
    queue.pop();
    last_ticks_ = ticks;
    Cursor& cursor = cursors.at(thread);
    if (ticks > cut || !load(cursor)) {
      continue;
    }
    feed(cursor, queue.empty() ? cut : std::min(cut, queue.top().first), shown);
    const bool has_more =
        cursor.at < cursor.events.size() || cursor.next_place < cursor.places.size();
    if (has_more && !is_beyond(cursor.frames)) {
      queue.emplace(next_ticks(cursor, ticks), thread);
    } else {
      cursor.events = {};
    }
  }
  for (auto& [thread, cursor] : cursors) {
    cursor.frames.finish();
  }
}

/// Reads the next chunk of a thread if the last one is used up. False if it cannot be read.
bool TraceWalk::load(Cursor& cursor) {
  while (cursor.at >= cursor.events.size()) {
    if (cursor.next_place >= cursor.places.size()) {
      return false;
    }
    const TraceReader::Place& place = reader_.places()[cursor.places[cursor.next_place]];
    ++cursor.next_place;
    cursor.at = 0;
    if (!reader_.read(place, cursor.events)) {
      return false;
    }
    if (place.lost > 0) {
      cursor.frames.lose(place.lost);
    }
  }
  return true;
}

/// One event, and those behind it until `until_ticks`.
void TraceWalk::feed(Cursor& cursor, std::uint64_t until_ticks, const ShownCalls& shown) {
  do {
    const core::TraceEvent& event = cursor.events[cursor.at++];
    cursor.frames.add(event);
    last_ticks_ = is_timed(event.kind()) ? event.ticks : last_ticks_;
  } while (cursor.at < cursor.events.size() && !shown.is_full() &&
           next_ticks(cursor, 0) <= until_ticks);
}

/// Of a thread's next event; `last` if it has no time.
std::uint64_t TraceWalk::next_ticks(const Cursor& cursor, std::uint64_t last) const {
  if (cursor.at < cursor.events.size()) {
    const core::TraceEvent& event = cursor.events[cursor.at];
    return is_timed(event.kind()) ? event.ticks : last;
  }
  return cursor.next_place < cursor.places.size()
             ? reader_.places()[cursor.places[cursor.next_place]].ticks
             : kLastTicks;
}

bool TraceWalk::is_beyond(const OpenFrames& frames) const {
  return view_.to_ns && frames.now_ns() > *view_.to_ns;
}

}  // namespace sp::profiler
