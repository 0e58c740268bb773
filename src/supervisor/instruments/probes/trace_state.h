#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "supervisor/instruments/probes/call_table.h"
#include "supervisor/instruments/probes/probed_function.h"
#include "supervisor/instruments/probes/thread_trace.h"

namespace sp::supervisor {

class CallCounter;
class FunctionTrace;

/// Where copies write an event.
struct EventPlace {
  enum class Kind : std::uint8_t { entry, resumed, ret, tail };

  Kind kind = Kind::entry;
  std::uint32_t function = 0;
  core::Address at;
  core::Address to;  // of a tail call
};

/// What --trace knows of one address space.
struct TraceState {
  FunctionTrace* recorder = nullptr;
  std::vector<std::shared_ptr<ThreadTrace>> threads;  // those with events
  std::vector<std::uint32_t> ended;   // functions without places, of which nobody was told
  core::TimePoint delivered;          // when events were last
  bool is_over = false;               // the process was given up
  core::Duration looks_for_stacks{};  // what they have cost
  bool is_off = false;                // see trace_switch.h
  bool is_to_be_on = false;           // at the next stop that permits it
  bool looks_for_open = false;        // functions then: it has been switched on
  bool was_off = false;               // events begin in the middle of the program
  std::uint32_t switches_on = 0;      // bits: the triggers whose functions have places while off
  CallCounter* calls = nullptr;       // `count`, which has no recorder
  CallTable call_table{};             // what it has counted
  bool has_exits = true;              // functions are looked at where they are left, too
  std::vector<EventPlace> event_places{};                    // by the numbers that copies write
  std::vector<std::uint32_t> learned{};                      // by function: TraceLearning's
  std::unordered_map<core::Address, bool> signal_returns{};  // where handlers return to, or not

  /// The function is to have places now.
  [[nodiscard]] bool has_places(const ProbedFunction& function) const {
    return !function.trace_until && !function.is_unpatched &&
           (!is_off || (function.triggers & switches_on) != 0);
  }
  /// A forked child's.
  [[nodiscard]] TraceState forked() const {
    TraceState child;
    child.recorder = recorder;
    child.calls = calls;
    child.has_exits = has_exits;
    child.call_table = call_table.empty_copy();
    child.is_over = is_over;
    child.is_off = is_off;
    child.is_to_be_on = is_to_be_on;
    child.was_off = was_off;
    child.switches_on = switches_on;
    return child;
  }
};

}  // namespace sp::supervisor
