#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/clock.h"
#include "supervisor/instruments/probes/thread_trace.h"

namespace sp::supervisor {

class FunctionTrace;

/// What --trace knows of one address space.
struct TraceState {
  FunctionTrace* recorder = nullptr;
  std::vector<std::shared_ptr<ThreadTrace>> threads;  // those with events
  std::vector<std::uint32_t> ended;   // functions that were too hot, of which nobody was told
  core::TimePoint delivered;          // when events were last
  bool is_over = false;               // the process was given up
  core::Duration looks_for_stacks{};  // what they have cost
};

}  // namespace sp::supervisor
