#include "rewriter/copy_units.h"

#include <algorithm>

namespace sp::rewriter {
namespace {

using core::Address;
using core::CopyRefusal;
using core::Flow;

using Refusal = std::optional<CopyRefusal>;

/// Decodes one block and cuts it behind its system calls.
Refusal add_block(const core::FunctionToCopy& function, std::uint32_t index, CopyUnits& found) {
  const core::BasicBlock& block = function.graph->blocks[index];
  Address at = block.start;
  const bool is_new = found.units.empty() || found.units.back().end <= at || block.is_unlocked;
  if (!function.bounds.contains(at) || !is_new || block.lengths.empty()) {
    return CopyRefusal::not_mapped;
  }
  bool starts_unit = true;
  for (std::size_t i = 0; i < block.lengths.size(); ++i) {
    if (!function.bounds.contains(at)) {
      return CopyRefusal::not_mapped;
    }
    auto source = cpu::read_instruction(function.code.subspan(at - function.bounds.begin), at);
    const bool is_last = i + 1 == block.lengths.size();
    if (!source || source->instruction.length != block.lengths[i] ||
        (core::ends_block(source->instruction.flow) && !is_last)) {
      return CopyRefusal::not_mapped;
    }
    source->is_bound = at < found.bound_end;
    found.bound_end = std::max(found.bound_end, at + source->bound_length);
    if (const auto refusal = cpu::refuse_move(*source)) {
      return refusal;
    }
    if (starts_unit) {
      CopyUnit unit;
      unit.start = at;
      unit.block = index;
      unit.first = static_cast<std::uint32_t>(found.instructions.size());
      unit.starts_block = i == 0;
      unit.is_outside = i != 0;
      unit.is_unlocked = block.is_unlocked;
      unit.is_cut = block.is_cut && i == 0;
      if (block.is_unlocked && !found.units.empty()) {
        found.units.back().is_locked = true;
      }
      found.units.push_back(unit);
    }
    const Flow flow = source->instruction.flow;
    at = source->instruction.next();
    CopyUnit& unit = found.units.back();
    unit.end = at;
    unit.size += 1;
    unit.falls_through = flow == Flow::next || flow == Flow::branch;
    starts_unit = flow == Flow::syscall;
    found.instructions.push_back(*source);
  }
  return std::nullopt;
}

/// Marks return sites, destinations of the function's own calls, which are made in the original,
/// and entries.
Refusal mark_ways_in(const core::FunctionToCopy& function, CopyUnits& found) {
  for (std::size_t i = 0; i < found.units.size(); ++i) {
    const core::Instruction& last = found.last_of(found.units[i]).instruction;
    if (!is_kept(last.flow)) {
      continue;
    }
    if (i + 1 < found.units.size() && found.units[i + 1].start == last.next()) {
      found.units[i + 1].is_outside = true;
    }
    if (const auto callee = last.target ? found.find(*last.target) : std::nullopt) {
      found.units[*callee].is_outside = true;
    }
  }
  for (const Address destination : function.graph->table_destinations) {
    if (const auto unit = found.find(destination)) {
      found.units[*unit].is_of_tables = !found.units[*unit].is_outside;
      found.units[*unit].is_outside = true;
    }
  }
  for (const Address entry : function.entries) {
    if (!function.bounds.contains(entry)) {
      continue;
    }
    const auto unit = found.find(entry);
    if (!unit) {
      return CopyRefusal::not_mapped;
    }
    found.units[*unit].is_outside = true;
    found.units[*unit].is_of_tables = false;
  }
  return std::nullopt;
}

void mark_loop_heads(const core::FunctionToCopy& function, CopyUnits& found) {
  for (std::uint32_t i = 0; i < found.units.size(); ++i) {
    const core::Instruction& last = found.last_of(found.units[i]).instruction;
    if (last.flow != Flow::jump && last.flow != Flow::branch) {
      continue;
    }
    const auto target = found.find(*last.target);
    if (target && *target <= i) {
      found.units[*target].is_loop_head = true;
    }
  }
  for (const core::BranchTable& table : function.graph->tables) {
    for (const Address destination : *table.destinations) {
      const auto target = function.copies_tables ? found.find(destination) : std::nullopt;
      if (target && destination <= table.jump) {
        found.units[*target].is_loop_head = true;
      }
    }
  }
}

/// Nothing may be inserted between the instructions of an atomic sequence: a unit that begins there
/// is counted behind it, and neither landings nor exits lead into it.
bool can_keep_together(const CopyUnits& found) {
  return std::all_of(found.units.begin(), found.units.end(), [&found](const CopyUnit& unit) {
    const auto code = found.code_of(unit);
    const bool is_free = !code.front().is_bound;
    const bool ends_free = unit.starts_block && !code.back().is_bound;
    return is_free || (ends_free && !unit.is_outside && !unit.is_loop_head);
  });
}

}  // namespace

std::optional<std::uint32_t> CopyUnits::find(Address start) const {
  const auto unit =
      std::lower_bound(units.begin(), units.end(), start,
                       [](const CopyUnit& left, Address wanted) { return left.start < wanted; });
  if (unit == units.end() || unit->start != start) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(unit - units.begin());
}

tl::expected<CopyUnits, CopyRefusal> find_units(const core::FunctionToCopy& function) {
  const core::ControlFlowGraph& graph = *function.graph;
  if (graph.blocks.empty() || !graph.unmapped.empty() ||
      function.code.size() != function.bounds.size()) {
    return tl::unexpected(CopyRefusal::not_mapped);
  }
  CopyUnits found;
  for (std::uint32_t i = 0; i < graph.blocks.size(); ++i) {
    if (const auto refusal = add_block(function, i, found)) {
      return tl::unexpected(*refusal);
    }
  }
  if (const auto refusal = mark_ways_in(function, found)) {
    return tl::unexpected(*refusal);
  }
  mark_loop_heads(function, found);
  if (!can_keep_together(found)) {
    return tl::unexpected(CopyRefusal::unmovable);
  }
  return found;
}

}  // namespace sp::rewriter
