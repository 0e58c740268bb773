#include "supervisor/instruments/probes/thread_trace.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace sp::supervisor {
namespace {

using core::Address;
using core::TraceEvent;
using core::TraceEventKind;

std::uint64_t ticks(core::TimePoint time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

}  // namespace

void ThreadTrace::enter(std::uint32_t function, Address sp, core::TimePoint at, Address site,
                        bool is_watched, std::optional<std::uint64_t> argument) {
  settle(at);
  const bool is_first_there = is_elsewhere();
  leave_handlers(at);
  if (std::exchange(handler_comes_, false) && is_first_there) {
    handlers_on_ = stack_;
  }
  std::vector<Frame>& frames = this->frames();
  while (!frames.empty() && frames.back().sp <= sp) {
    pop(frames, at);
  }
  Frame frame{.function = function, .sp = sp, .site = site, .begin = at, .stolen = stolen_};
  if (limits_.max_depth == 0 || frames.size() < limits_.max_depth) {
    frame.begins = next();
    frame.written_stolen = written_stolen_;
    frame.written_stack = written_stack_;
    frame.is_written = write(TraceEventKind::entry, function, sp,
                             limits_.has_sites ? site.value() : ticks(at), argument);
    frame.is_lost = !frame.is_written && !is_paused_;
    frame.is_before = is_paused_;
    frame.event = next() - 1;
  }
  frame.is_watched = is_watched;
  frame.depth = is_watched ? depth_of(function, sp) + 1 : 0;
  frames.push_back(frame);
}

void ThreadTrace::open(std::uint32_t function, Address sp, core::TimePoint at, Address site) {
  settle(at);
  leave_handlers(at);
  std::vector<Frame>& frames = this->frames();
  const bool has_calls = std::any_of(frames.begin(), frames.end(), [](const Frame& frame) {
    return frame.is_written && !frame.is_before;
  });
  if (has_calls || is_paused_) {
    return;
  }
  while (!frames.empty() && frames.back().sp <= sp) {
    pop(frames, at);
  }
  // Nobody knows for how long it has been open: it is not short.
  Frame frame{.function = function,
              .sp = sp,
              .site = site,
              .begin = at - limits_.min_duration,
              .stolen = stolen_};
  frame.is_written =
      (limits_.max_depth == 0 || frames.size() < limits_.max_depth) &&
      write(TraceEventKind::open, function, sp, limits_.has_sites ? site.value() : ticks(at));
  frame.is_before = true;
  frame.event = next() - 1;
  frames.push_back(frame);
}

void ThreadTrace::pop(std::vector<Frame>& frames, core::TimePoint at) {
  const Frame& frame = frames.back();
  if (frame.is_watched) {
    ended_.push_back({frame.function, (at - frame.begin) - (stolen_ - frame.stolen), frame.depth});
  }
  frames.pop_back();
}

std::vector<ThreadTrace::EndedCall> ThreadTrace::open_calls(core::TimePoint now) {
  settle(now);
  std::vector<EndedCall> calls;
  for (const Stack& stack : stacks_) {
    for (const Frame& frame : stack.open) {
      if (frame.is_watched) {
        calls.push_back(
            {frame.function, (now - frame.begin) - (stolen_ - frame.stolen), frame.depth});
      }
    }
  }
  return calls;
}

std::uint32_t ThreadTrace::depth_of(std::uint32_t function, Address sp) const {
  const std::vector<Frame>& frames = stacks_[stack_].open;
  return static_cast<std::uint32_t>(std::count_if(
      frames.begin(), frames.end(),
      [function, sp](const Frame& frame) { return frame.function == function && frame.sp > sp; }));
}

void ThreadTrace::close(TraceEventKind kind, std::uint32_t function, bool is_part, Address sp,
                        core::TimePoint at) {
  settle(at);
  leave_handlers(at);
  std::vector<Frame>& frames = this->frames();
  while (!frames.empty() && frames.back().sp < sp) {
    pop(frames, at);
  }
  if (frames.empty() || frames.back().sp != sp) {
    (void)write(kind, function, sp, ticks(at));  // it was entered before
    return;
  }
  const Frame frame = frames.back();
  pop(frames, at);
  const core::Duration took = (at - frame.begin) - (stolen_ - frame.stolen);
  const bool was_open = frame.is_written && frame.is_before;
  const bool is_short =
      !was_open && limits_.min_duration > core::Duration{} && took < limits_.min_duration;
  if (!frame.is_written && !(frame.is_before && !is_short)) {
    if (frame.is_lost) {
      leave_hole(1);
    }
    return;
  }
  if (frame.is_written && is_short && frame.begins >= first_ && frame.event + 1 == next() &&
      frame.begins >= end_of_hole_) {
    // Its callees have gone in the same way.
    take_back(frame.begins);
    written_stolen_ = frame.written_stolen;
    written_stack_ = frame.written_stack;
    --own_;
    --kept_;
    return;
  }
  // Where one that is no part returns for it, it has jumped there with its frame.
  (void)write(kind, is_part ? frame.function : function, sp, ticks(at));
}

void ThreadTrace::resume(std::uint32_t function, Address sp, core::TimePoint at) {
  settle(at);
  leave_handlers(at);
  std::vector<Frame>& frames = this->frames();
  while (!frames.empty() && frames.back().sp < sp) {
    pop(frames, at);
  }
  (void)write(TraceEventKind::resumed, function, sp, ticks(at));
}

void ThreadTrace::note(const core::ProgramEvent& event, core::TimePoint at) {
  settle(at);
  leave_handlers(at);
  const auto kind = event.type ? TraceEventKind::typed : TraceEventKind::custom;
  if (!write(kind, event.type.value_or(0), Address{event.size * TraceEvent::kSpUnit}, ticks(at))) {
    return;
  }
  for (std::size_t from = 0; from < event.data.size(); from += core::kTraceDataBytes) {
    TraceEvent part = TraceEvent::at(TraceEventKind::data, 0, 0, 0);
    const auto bytes = std::span(event.data).subspan(from);
    std::memcpy(&part.ticks, bytes.data(), std::min(bytes.size(), sizeof(part.ticks)));
    if (bytes.size() > sizeof(part.ticks)) {
      std::memcpy(&part.function, bytes.data() + sizeof(part.ticks),
                  std::min(bytes.size() - sizeof(part.ticks), sizeof(part.function)));
    }
    events_.push_back(part);
  }
}

void ThreadTrace::end_function(std::uint32_t function, core::TimePoint at) {
  bool is_open = false;
  for (Stack& stack : stacks_) {
    for (Frame& frame : stack.open) {
      is_open = is_open || (frame.function == function && frame.is_written);
      frame.is_written = frame.is_written && frame.function != function;
    }
  }
  if (is_open) {
    (void)write(TraceEventKind::ended, function, {}, ticks(at));
  }
}

void ThreadTrace::finish(TraceEventKind kind, core::TimePoint at) {
  settle(at);
  if (!is_over_ && next() + lost_ != 0) {
    (void)write(kind, 0, {}, ticks(at));
  }
  is_over_ = true;
  for (Stack& stack : stacks_) {
    stack.open.clear();
  }
}

void ThreadTrace::pause(core::TimePoint at) {
  if (!is_paused_) {
    finish(TraceEventKind::off, at);
    is_paused_ = true;
  }
}

void ThreadTrace::begin(core::TimePoint at) {
  if (std::exchange(is_paused_, false)) {
    forget_entries();
    (void)write(TraceEventKind::on, 0, {}, ticks(at));
  }
}

void ThreadTrace::clear(core::TimePoint at) {
  events_.clear();
  holes_.clear();
  first_ = lost_ = kept_ = end_of_hole_ = delivered_ = 0;
  own_ = 0;
  written_stack_ = 0;
  first_stack_ = 0;
  first_stolen_ = 0;
  written_stolen_ = {};
  is_over_ = true;
  forget_entries();
  if (!is_paused_) {
    (void)write(TraceEventKind::on, 0, {}, ticks(at));
  }
}

void ThreadTrace::forget_entries() {
  for (Stack& stack : stacks_) {
    for (Frame& frame : stack.open) {
      frame.is_before = frame.is_before || frame.is_written;
      frame.is_written = false;
      frame.is_lost = false;
    }
  }
}

bool ThreadTrace::is_inside(std::uint32_t function, Address sp) const {
  const std::vector<Frame>& frames = stacks_[stack_].open;
  const auto innermost = std::find_if(frames.rbegin(), frames.rend(),
                                      [sp](const Frame& frame) { return frame.sp >= sp; });
  return innermost != frames.rend() && innermost->function == function && innermost->sp != sp;
}

bool ThreadTrace::write(TraceEventKind kind, std::uint32_t function, Address sp, std::uint64_t word,
                        std::optional<std::uint64_t> argument) {
  if (is_paused_) {
    return false;
  }
  if (kept_++ >= limits_.buffer && limits_.when_full == core::WhenFull::discard) {
    leave_hole(1);
    return false;
  }
  if (limits_.when_full == core::WhenFull::keep && own_ >= 2 * limits_.buffer) {
    drop_oldest();
  }
  if (stolen_ != written_stolen_ && !limits_.has_sites) {
    events_.push_back(TraceEvent::at(TraceEventKind::stolen,
                                     static_cast<std::uint64_t>(stolen_.count()), 0, sp.value()));
    written_stolen_ = stolen_;
  }
  if (stack_ != written_stack_) {
    events_.push_back(TraceEvent::at(TraceEventKind::stack, word,
                                     static_cast<std::uint32_t>(stack_), sp.value()));
    written_stack_ = stack_;
  }
  if (argument) {
    events_.push_back(TraceEvent::at(TraceEventKind::value, *argument, 1, sp.value()));
  }
  events_.push_back(TraceEvent::at(kind, word, function, sp.value()));
  ++own_;
  is_over_ = false;
  return true;
}

}  // namespace sp::supervisor
