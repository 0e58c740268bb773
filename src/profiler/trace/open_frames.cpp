#include "profiler/trace/open_frames.h"

#include <algorithm>
#include <utility>

#include "profiler/trace/trace_file.h"

namespace sp::profiler {
namespace {

using core::sp_distance;
using core::TraceEvent;
using core::TraceEventKind;

bool leaves(TraceEventKind kind) {
  return kind == TraceEventKind::ret || kind == TraceEventKind::tail;
}

bool has_both_ends(TraceClosing closing) {
  return closing != TraceClosing::entered_before && closing != TraceClosing::at_end &&
         closing != TraceClosing::across_loss;
}

}  // namespace

OpenFrames::OpenFrames(std::uint32_t thread, const Rules& rules, const Sources& sources,
                       CallVisitor& visitor, std::span<const FrameBefore> before)
    : thread_(thread), rules_(rules), sources_(sources), visitor_(visitor), before_(before) {}

void OpenFrames::add(const TraceEvent& event) {
  const TraceEventKind kind = event.kind();
  if (!is_timed(kind)) {
    if (kind == TraceEventKind::stolen) {
      stolen_ = std::max(stolen_, event.ticks);
    } else {
      own_.take(event);
    }
    return;
  }
  tell_event();
  const auto argument = own_.take_argument();
  advance(event);
  if (kind == TraceEventKind::on || kind == TraceEventKind::off || kind == TraceEventKind::end) {
    close_all();
    begin_segment();
  } else if (kind == TraceEventKind::lost) {
    lose(event.function);
  }
  if (is_new_segment_ && kind != TraceEventKind::off && kind != TraceEventKind::end) {
    open_frames_before();
  }
  if (kind == TraceEventKind::stack) {
    switch_to(event.function);
  } else if (kind == TraceEventKind::entry) {
    ++entries_;
    enter(on_stack_, event.function, event.sp(), false, argument);
    stacks_[on_stack_].raise_highest(event.sp(), segment_);
  } else if (kind == TraceEventKind::open) {
    enter(on_stack_, event.function, event.sp(), true);
    stacks_[on_stack_].raise_highest(event.sp(), segment_);
  } else if (leaves(kind)) {
    leave(event.function, event.sp(),
          kind == TraceEventKind::ret ? TraceClosing::returned : TraceClosing::tail);
    stacks_[on_stack_].raise_highest(event.sp(), segment_);
  } else if (kind == TraceEventKind::ended) {
    end_function(event.function, sources_.clock(event.ticks));
  } else if (kind == TraceEventKind::resumed) {
    unwind(on_stack_, event.sp(), !rules_.calls_push);
  } else if (is_own(kind)) {
    own_.begin(event, thread_, on_stack_, now_ns_);
  }
}

void OpenFrames::tell_event() {
  if (auto event = own_.take_event()) {
    event->depth = stacks_[event->stack].depth();
    visitor_.note(*event);
  }
}

void OpenFrames::lose(std::uint64_t events) {
  skipped_.lost += events;
  begin_segment();
}

void OpenFrames::finish() {
  tell_event();
  close_all();
}

std::vector<FrameBefore> OpenFrames::before() {
  // The innermost frame leaves first.
  std::reverse(found_.begin(), found_.end());
  std::stable_sort(found_.begin(), found_.end(),
                   [](const auto& a, const auto& b) { return a.segment < b.segment; });
  return std::move(found_);
}

/// Gives the time since the last event to the frame that spent it. Times never go back: ticks of
/// two CPUs may differ, and stolen time is known a moment late.
void OpenFrames::advance(const TraceEvent& event) {
  const std::int64_t clock_ns = sources_.clock(event.ticks);
  const std::int64_t ns =
      rules_.raw_times ? clock_ns : sources_.clock(event.ticks - std::min(stolen_, event.ticks));
  if (!has_time_) {
    now_ns_ = ns;
    has_time_ = true;
  }
  close_overdue(event, clock_ns);
  spend_until(ns);
  stolen_ns_ = clock_ns - ns;
}

/// A return that comes although its function's events have ended is believed.
void OpenFrames::close_overdue(const TraceEvent& event, std::int64_t until_ns) {
  std::vector<Frame>& frames = stacks_[on_stack_].frames;
  while (!frames.empty() && frames.back().until_ns && *frames.back().until_ns <= until_ns &&
         !(leaves(event.kind()) && frames.back().sp == event.sp())) {
    spend_until(std::max(*frames.back().until_ns, now_ns_ + stolen_ns_) - stolen_ns_);
    close_top(on_stack_, TraceClosing::at_end);
  }
}

void OpenFrames::end_function(std::uint32_t function, std::int64_t clock_ns) {
  for (auto& [number, stack] : stacks_) {
    for (Frame& frame : stack.frames) {
      if (frame.function == function && !frame.until_ns) {
        frame.until_ns = clock_ns;
      }
    }
  }
}

void OpenFrames::spend_until(std::int64_t ns) {
  if (ns <= now_ns_) {
    return;
  }
  std::vector<Frame>& frames = stacks_[on_stack_].frames;
  if (!frames.empty()) {
    frames.back().self_ns += ns - now_ns_;
  }
  now_ns_ = ns;
}

void OpenFrames::begin_segment() {
  ++segment_;
  is_new_segment_ = true;
}

void OpenFrames::open_frames_before() {
  is_new_segment_ = false;
  for (; !before_.empty() && before_.front().segment <= segment_; before_ = before_.subspan(1)) {
    const FrameBefore& frame = before_.front();
    if (frame.segment == segment_) {
      enter(frame.stack, frame.function, frame.sp, true);
    }
  }
}

void OpenFrames::enter(std::uint32_t number, std::uint32_t function, std::uint32_t sp,
                       bool was_before, std::optional<std::uint64_t> argument) {
  unwind(number, sp, true);
  if (frames_ >= kMostFrames) {
    ++skipped_.frames;
    return;
  }
  Stack& stack = stacks_[number];
  const TracedCall call{.thread = thread_,
                        .stack = number,
                        .function = function,
                        .parent = stack.innermost(),
                        .depth = stack.depth(),
                        .begin_ns = now_ns_,
                        .argument = argument};
  const bool is_left_out = !was_before && left_out_ != nullptr && left_out_->has(entries_ - 1);
  stack.frames.push_back(
      {function, sp, segment_, entries_ - 1, was_before, is_left_out, now_ns_, 0, {}});
  ++frames_;
  if (is_left_out) {
    ++stack.left_out;
  } else {
    visitor_.begin(call);
  }
}

void OpenFrames::leave(std::uint32_t function, std::uint32_t sp, TraceClosing closing) {
  unwind(on_stack_, sp, false);
  Stack& stack = stacks_[on_stack_];
  if (stack.frames.empty() || stack.frames.back().sp != sp) {
    leave_unknown(function, sp);
    return;
  }
  const Frame& frame = stack.frames.back();
  if (frame.function == function || sources_.function(function).is_part) {
    close_top(on_stack_, frame.was_before ? TraceClosing::entered_before : closing);
    return;
  }
  const bool is_from_before = frame.segment != segment_ && stack.has_all_below(sp, segment_);
  if (is_from_before) {
    close_top(on_stack_, TraceClosing::unwound);
    leave_unknown(function, sp);
    return;
  }
  // The function has jumped to this one, and nobody has seen it.
  close_top(on_stack_, TraceClosing::tail);
}

/// A frame whose entry was not seen. It was open when the segment began if nothing in it was above;
/// else its function has had entries only for a part of that time.
void OpenFrames::leave_unknown(std::uint32_t function, std::uint32_t sp) {
  if (rules_.finds_before) {
    if (stacks_[on_stack_].has_all_below(sp, segment_) && found_.size() < kMostBefore) {
      found_.push_back({segment_, on_stack_, function, sp});
    }
    return;
  }
  const std::size_t frames = frames_;
  enter(on_stack_, function, sp, true);
  if (frames_ > frames) {
    close_top(on_stack_, TraceClosing::entered_before);
  }
}

/// Frames with a lower entry sp are gone.
void OpenFrames::unwind(std::uint32_t number, std::uint32_t sp, bool also_at_sp) {
  const std::vector<Frame>& frames = stacks_[number].frames;
  while (!frames.empty()) {
    const std::int32_t distance = sp_distance(frames.back().sp, sp);
    if (distance > 0 || (distance == 0 && !also_at_sp)) {
      return;
    }
    close_top(number, TraceClosing::unwound);
  }
}

void OpenFrames::close_top(std::uint32_t number, TraceClosing closing) {
  Stack& stack = stacks_[number];
  const Frame frame = stack.frames.back();
  stack.frames.pop_back();
  --frames_;
  const bool is_short = !frame.was_before && now_ns_ - frame.begin_ns < rules_.least_ns &&
                        has_both_ends(closing_of(frame, closing));
  if (rules_.finds_before && is_short) {
    short_calls_.add(frame.entry);
  }
  if (frame.is_left_out) {
    --stack.left_out;
    if (!stack.frames.empty()) {
      stack.frames.back().self_ns += frame.self_ns;
    }
    return;
  }
  visitor_.end({.thread = thread_,
                .stack = number,
                .function = frame.function,
                .parent = stack.innermost(),
                .depth = stack.depth(),
                .begin_ns = frame.begin_ns,
                .end_ns = now_ns_,
                .self_ns = frame.self_ns,
                .closing = closing_of(frame, closing)});
}

/// Behind a loss the frame may be that of a later call, at the same place on the stack.
TraceClosing OpenFrames::closing_of(const Frame& frame, TraceClosing closing) const {
  return has_both_ends(closing) && frame.segment != segment_ ? TraceClosing::across_loss : closing;
}

void OpenFrames::close_all() {
  for (const auto& [number, stack] : stacks_) {
    while (!stack.frames.empty()) {
      close_top(number, TraceClosing::at_end);
    }
  }
}

void OpenFrames::switch_to(std::uint32_t number) {
  on_stack_ = number;
  if (stacks_.size() >= kMostStacks) {
    std::erase_if(stacks_, [](const auto& row) { return row.second.frames.empty(); });
  }
}

}  // namespace sp::profiler
