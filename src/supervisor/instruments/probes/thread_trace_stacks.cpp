#include <algorithm>

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
