#include "profiler/trace/shown_calls.h"

#include <algorithm>

namespace sp::profiler {

void ShownCalls::begin(const TracedCall& call) {
  Track& track = tracks_[{call.thread, call.stack}];
  track.open.push_back(call);
  const bool is_behind = view_.from_ns && call.begin_ns < *view_.from_ns;
  const bool is_beyond = view_.to_ns && call.begin_ns >= *view_.to_ns;
  if (!is_behind && !is_beyond) {
    show(track, track.open.size());
  }
}

void ShownCalls::end(const TracedCall& call) {
  const auto place = tracks_.find({call.thread, call.stack});
  Track& track = place->second;
  const bool is_behind =
      view_.from_ns && call.begin_ns < *view_.from_ns && call.end_ns <= *view_.from_ns;
  const bool is_beyond = view_.to_ns && call.begin_ns >= *view_.to_ns;
  if (!is_behind && !is_beyond) {
    show(track, track.open.size());
  }
  const bool is_shown = track.shown == track.open.size();
  track.open.pop_back();
  track.shown = std::min(track.shown, track.open.size());
  if (is_shown) {
    TracedCall ended = call;
    ended.begin_ns = std::max(call.begin_ns, view_.from_ns.value_or(call.begin_ns));
    if (view_.to_ns && call.end_ns > *view_.to_ns) {
      ended.end_ns = *view_.to_ns;
      ended.closing = TraceClosing::at_end;
    }
    ++events_;
    --open_;
    to_.end(ended);
  }
  if (track.open.empty()) {
    tracks_.erase(place);
  }
}

void ShownCalls::note(const TracedEvent& event) {
  const bool is_behind = view_.from_ns && event.at_ns < *view_.from_ns;
  const bool is_beyond = view_.to_ns && event.at_ns >= *view_.to_ns;
  if (is_behind || is_beyond || is_full_) {
    return;
  }
  if (view_.limit > 0 && events_ + notes_ + open_ + 1 > view_.limit) {
    is_full_ = true;
    return;
  }
  ++notes_;
  to_.note(event);
}

/// The `count` outermost calls that are open.
void ShownCalls::show(Track& track, std::size_t count) {
  for (; track.shown < count && !is_full_; ++track.shown) {
    if (view_.limit > 0 && events_ + notes_ + open_ + 2 > view_.limit) {
      is_full_ = true;
      return;
    }
    TracedCall call = track.open[track.shown];
    call.begin_ns = std::max(call.begin_ns, view_.from_ns.value_or(call.begin_ns));
    ++events_;
    ++open_;
    to_.begin(call);
  }
}

}  // namespace sp::profiler
