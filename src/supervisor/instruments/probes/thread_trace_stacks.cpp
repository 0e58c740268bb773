#include <algorithm>
#include <utility>

#include "supervisor/instruments/probes/thread_trace.h"

// The stacks that a thread is on: its own, those of signal handlers, of coroutines.
namespace sp::supervisor {
namespace {

using core::Address;

constexpr std::size_t kMostIdleStacks = 1'024;

}  // namespace

bool ThreadTrace::is_on_known_stack(Address sp) {
  if (stacks_[stack_].mapped.contains(sp)) {
    return true;
  }
  const auto known = std::find_if(stacks_.begin(), stacks_.end(),
                                  [sp](const Stack& stack) { return stack.mapped.contains(sp); });
  if (known == stacks_.end()) {
    return false;
  }
  stack_ = static_cast<std::size_t>(known - stacks_.begin());
  return true;
}

std::vector<ThreadTrace::OpenCall> ThreadTrace::open_on_stack() const {
  std::vector<OpenCall> calls;
  for (const Frame& frame : stacks_[stack_].open) {
    calls.push_back({frame.function, frame.sp, frame.site});
  }
  return calls;
}

void ThreadTrace::use_stack(core::AddressRange mapped, bool grows) {
  const auto free = std::find_if(stacks_.begin(), stacks_.end(), [&](const Stack& stack) {
    return stack.mapped.size() == 0 || (grows && stack.mapped.end == mapped.end);
  });
  if (free != stacks_.end()) {
    free->mapped = mapped;
    stack_ = static_cast<std::size_t>(free - stacks_.begin());
    return;
  }
  if (stacks_.size() >= kMostIdleStacks) {
    forget_idle_stacks();
    use_stack(mapped, grows);
    return;
  }
  stacks_.push_back({mapped, {}});
  stack_ = stacks_.size() - 1;
}

/// A handler that has a stack to itself returns before its thread goes on elsewhere, or has left by
/// longjmp. A coroutine is only away.
void ThreadTrace::leave_handlers(core::TimePoint at) {
  const std::size_t on = std::exchange(last_stack_, stack_);
  if (on == stack_ || handlers_on_ != on) {
    return;
  }
  handlers_on_.reset();
  std::vector<Frame>& frames = stacks_[on].open;
  const bool are_written = std::any_of(frames.begin(), frames.end(),
                                       [](const Frame& frame) { return frame.is_written; });
  const Frame outermost = frames.empty() ? Frame{} : frames.front();
  while (!frames.empty()) {
    pop(frames, at);
  }
  if (are_written) {
    const std::size_t now_on = std::exchange(stack_, on);
    (void)write(core::TraceEventKind::resumed, outermost.function,
                outermost.sp + core::TraceEvent::kSpUnit,
                static_cast<std::uint64_t>(at.time_since_epoch().count()));
    stack_ = now_on;
  }
}

/// Their numbers are used again: nothing is open on them. If there is something on all of them,
/// that of the last one is lost.
void ThreadTrace::forget_idle_stacks() {
  for (Stack& stack : stacks_) {
    if (stack.open.empty()) {
      stack.mapped = {};
    }
  }
  stacks_.back() = {};
}

}  // namespace sp::supervisor
