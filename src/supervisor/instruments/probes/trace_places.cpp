#include "supervisor/instruments/probes/trace_places.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace sp::supervisor {
namespace {

using core::Address;
using core::Flow;

bool may_leave(const FunctionIndex& functions, const ProbedFunction& function,
               const std::vector<Address>& unresolved, const core::Instruction& last) {
  if (!function.has_exits && last.target != function.bounds.begin) {
    return false;
  }
  switch (last.flow) {
    case Flow::ret:
      return true;
    case Flow::indirect_jump:
      return std::find(unresolved.begin(), unresolved.end(), last.address) != unresolved.end();
    case Flow::jump:
    case Flow::branch:
      break;
    default:
      return false;
  }
  if (!last.target) {
    return false;
  }
  if (function.bounds.contains(*last.target)) {
    // It comes to the first instruction once more: that is no call.
    return *last.target == function.bounds.begin;
  }
  // Unknown code is a stub, more often than not: a tail call of a library's function.
  const ProbedFunction* const other = functions.at(*last.target);
  return other == nullptr || (!other->is_part && other->bounds.begin == *last.target);
}

/// The first instruction of `block` alone; nothing of how the block ends.
core::BasicBlock first_of(const core::BasicBlock& block) {
  core::BasicBlock first;
  first.start = block.start;
  first.lengths = {block.lengths.front()};
  first.last = {block.start, block.lengths.front(), Flow::next, {}};
  first.falls_through = true;
  return first;
}

}  // namespace

const EventSled* event_at(const ProbedFunction& function, const core::Instruction& instruction) {
  const bool is_jump = instruction.flow == Flow::jump;
  const auto found =
      std::find_if(function.events.begin(), function.events.end(), [&](const EventSled& sled) {
        return instruction.address == (is_jump ? sled.begin : sled.call);
      });
  return found == function.events.end() ? nullptr : &*found;
}

TracePlace trace_place(const FunctionIndex& functions, const ProbedFunction& function,
                       const std::vector<Address>& unresolved, Address start,
                       const core::Instruction& last) {
  const auto& pads = function.landing_pads;
  TracePlace place;
  place.enters = start == function.bounds.begin && !function.is_part;
  place.resumes = function.has_exits && std::find(pads.begin(), pads.end(), start) != pads.end();
  place.leaves = may_leave(functions, function, unresolved, last);
  place.event = event_at(function, last);
  return place;
}

core::ControlFlowGraph map_traced(const FunctionIndex& functions, ProbedFunction& function,
                                  const std::function<core::ControlFlowGraph()>& analyze) {
  core::ControlFlowGraph graph = analyze();
  const FunctionIndex::Module* const module = functions.module_at(function.bounds.begin);
  if (module == nullptr || module->returning_twice.empty()) {
    return graph;
  }
  const auto& twice = module->returning_twice;
  auto& pads = function.landing_pads;
  const std::size_t before = pads.size();
  for (const core::BasicBlock& block : graph.blocks) {
    const Address back = block.last.next();
    const bool calls_one = block.last.flow == Flow::call && block.last.target &&
                           std::binary_search(twice.begin(), twice.end(), *block.last.target);
    if (calls_one && function.bounds.contains(back) &&
        std::find(pads.begin(), pads.end(), back) == pads.end()) {
      pads.push_back(back);
    }
  }
  return pads.size() == before ? graph : analyze();
}

core::ControlFlowGraph cut_at_places(core::ControlFlowGraph graph, const FunctionIndex& functions,
                                     const ProbedFunction& function) {
  std::vector<core::BasicBlock> blocks;
  for (core::BasicBlock& block : graph.blocks) {
    const TracePlace place =
        trace_place(functions, function, graph.unresolved, block.start, block.last);
    const bool has_two =
        (place.enters || place.resumes) && (place.leaves || place.event != nullptr);
    if (has_two && block.lengths.size() > 1) {
      blocks.push_back(first_of(block));
      block.start = block.start + block.lengths.front();
      block.lengths.erase(block.lengths.begin());
      block.is_cut = true;
    }
    blocks.push_back(std::move(block));
  }
  graph.blocks = std::move(blocks);
  return graph;
}

}  // namespace sp::supervisor
