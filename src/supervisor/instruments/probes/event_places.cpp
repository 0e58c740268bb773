#include "supervisor/instruments/probes/event_places.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "supervisor/instruments/probes/trace_places.h"

namespace sp::supervisor {
namespace {

using core::Address;
using core::Flow;

/// How the copy's event of an exit reads; nothing: only the tracer can tell what happens there.
std::optional<EventPlace> exit_place(ProbedCode& code, const ProbedFunction& function,
                                     const core::Instruction& last) {
  if (last.flow == Flow::ret) {
    return EventPlace{EventPlace::Kind::ret, function.number, last.address, {}};
  }
  const bool is_tail = last.flow == Flow::jump && last.target && *last.target != Address{} &&
                       !function.bounds.contains(*last.target);
  if (!is_tail || code.functions().at(*last.target) == nullptr) {
    return std::nullopt;
  }
  return EventPlace{EventPlace::Kind::tail, function.number, last.address, *last.target};
}

/// The original's instruction there is executed in the original.
bool is_kept_at(Address at, const core::Instruction& last) {
  return last.address == at && (last.flow == Flow::call || last.flow == Flow::indirect_call);
}

/// Nothing: one of them is not known to be one before it is executed.
std::optional<std::vector<EventPlace>> find_places(ProbedCode& code, const ProbedFunction& function,
                                                   const core::ControlFlowGraph& graph) {
  std::vector<EventPlace> found;
  for (const core::BasicBlock& block : graph.blocks) {
    const TracePlace place =
        trace_place(code.functions(), function, graph.unresolved, block.start, block.last);
    const bool begins = place.enters || place.resumes;
    if (begins && (place.leaves || is_kept_at(block.start, block.last))) {
      return std::nullopt;
    }
    if (begins) {
      found.push_back({place.enters ? EventPlace::Kind::entry : EventPlace::Kind::resumed,
                       function.number,
                       block.start,
                       {}});
    } else if (place.leaves) {
      const auto exit = exit_place(code, function, block.last);
      if (!exit) {
        return std::nullopt;
      }
      found.push_back(*exit);
    }
  }
  return found;
}

}  // namespace

bool jumps_to(const core::ControlFlowGraph& graph, Address entry) {
  return std::binary_search(graph.table_destinations.begin(), graph.table_destinations.end(),
                            entry);
}

bool add_event_places(ProbedCode& code, const ProbedFunction& function,
                      core::FunctionToCopy& to_copy) {
  const bool is_special = function.is_part || !function.has_exits || function.triggers != 0 ||
                          function.id != 0 || !function.events.empty() ||
                          jumps_to(*to_copy.graph, function.bounds.begin);
  const auto found = is_special || !to_copy.allow_spill || !code.copy_space()->slots->ring_at()
                         ? std::nullopt
                         : find_places(code, function, *to_copy.graph);
  if (!found) {
    return false;
  }
  std::vector<EventPlace>& all = code.trace()->event_places;
  for (const EventPlace& place : *found) {
    to_copy.places.push_back({place.at, static_cast<std::uint32_t>(all.size()),
                              place.kind == EventPlace::Kind::entry && function.logs_argument});
    all.push_back(place);
  }
  return true;
}

}  // namespace sp::supervisor
