#include "rewriter/copy_function.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "rewriter/branch_plan.h"
#include "rewriter/code_outside.h"
#include "rewriter/copy_code.h"
#include "rewriter/copy_layout.h"
#include "rewriter/copy_units.h"
#include "rewriter/cpu.h"
#include "rewriter/landing_plan.h"
#include "rewriter/table_plan.h"
#include "rewriter/table_writer.h"

namespace sp::rewriter {
namespace {

using core::Address;
using core::CopyRefusal;
using core::FunctionCopy;

std::optional<CopyRefusal> check(const core::FunctionToCopy& function,
                                 const core::CopyPlace& place) {
  if (function.bounds.end <= function.bounds.begin || function.graph == nullptr) {
    return CopyRefusal::not_mapped;
  }
  if (function.bounds.size() > FunctionCopy::kLargestOriginal) {
    return CopyRefusal::too_large;
  }
  constexpr std::uint64_t kEndOfCounters = std::uint64_t{1} << 31U;
  const std::uint64_t counters =
      sizeof(std::uint64_t) * most_counters(*function.graph, place.transfers.has_value());
  if (place.counters > kEndOfCounters || counters > kEndOfCounters - place.counters) {
    return CopyRefusal::no_counter;
  }
  return std::nullopt;
}

FunctionCopy::MapEntry map_entry(const CopiedInstruction& copied, std::uint32_t offset,
                                 FunctionCopy& copy) {
  FunctionCopy::MapEntry entry;
  entry.copy = offset & (FunctionCopy::kLargestCopy - 1);
  std::uint64_t original = copied.original.value() - copy.original.begin.value();
  if (!copy.original.contains(copied.original)) {
    original = copy.outside.size();
    copy.outside.push_back(copied.original);
    entry.is_outside = 1;
  }
  entry.original = original & (FunctionCopy::kLargestOriginal - 1);
  entry.is_counted = copied.is_counted ? 1 : 0;
  entry.is_entry = copied.is_entry ? 1 : 0;
  entry.is_branching = copied.is_branching ? 1 : 0;
  entry.is_transferred = copied.is_transferred ? 1 : 0;
  entry.is_in_entry = copied.is_in_entry ? 1 : 0;
  entry.undo = copied.undo & (FunctionCopy::kMostUndos - 1);
  return entry;
}

void write_code(const CopyCode& code, const std::vector<std::uint32_t>& offsets,
                FunctionCopy& copy) {
  copy.code.reserve(offsets.back());
  copy.map.reserve(code.instructions.size());
  for (std::size_t i = 0; i < code.instructions.size(); ++i) {
    const CopiedInstruction& copied = code.instructions[i];
    const auto bytes = copied.code.code();
    if (bytes.empty()) {
      continue;
    }
    copy.code.insert(copy.code.end(), bytes.begin(), bytes.end());
    copy.map.push_back(map_entry(copied, offsets[i], copy));
  }
  copy.undos = code.undos;
}

void write_blocks(const core::ControlFlowGraph& graph, std::uint64_t counters, FunctionCopy& copy) {
  copy.blocks.reserve(graph.blocks.size());
  for (const core::BasicBlock& block : graph.blocks) {
    core::CopiedBlock copied;
    copied.start = block.start;
    copied.is_unlocked = block.is_unlocked;
    for (const std::uint8_t length : block.lengths) {
      copied.size += length;
    }
    copied.counter = counters + sizeof(std::uint64_t) * copy.blocks.size();
    copy.blocks.push_back(copied);
  }
}

/// Of branches that have a counter of their own.
std::uint32_t count_own(std::span<const PlannedBranch> planned) {
  return static_cast<std::uint32_t>(
      std::count_if(planned.begin(), planned.end(),
                    [](const PlannedBranch& one) { return one.by_own_counter.has_value(); }));
}

void write_branches(const CopyUnits& units, std::span<const PlannedBranch> planned,
                    FunctionCopy& copy) {
  copy.counters = static_cast<std::uint32_t>(copy.blocks.size());
  for (std::size_t i = 0; i < planned.size(); ++i) {
    if (!planned[i].is_counted) {
      continue;
    }
    const CopyUnit& unit = units.units[i];
    copy.branches.push_back({unit.block, planned[i].counted,
                             *units.last_of(unit).instruction.target, unit.end,
                             planned[i].counter});
  }
  copy.counters += count_own(planned);
}

/// False if a jump to the original does not reach.
bool write_exits(const CopyCode& code, const CopyUnits& units,
                 const std::vector<std::uint32_t>& offsets, FunctionCopy& copy) {
  for (const CopyCode::Exit& one : code.exits) {
    const Address at = copy.at + offsets[code.units[one.unit]];
    const Address original = units.units[one.unit].start;
    cpu::MovedInstruction jump = cpu::far_jump_to(original);
    if (!place(jump, at)) {
      return false;
    }
    core::CopyExit& exit = copy.exits.emplace_back(core::CopyExit{at, original, one.room, 0, {}});
    const auto bytes = jump.code();
    std::copy(bytes.begin(), bytes.end(), exit.bytes.begin());
    exit.size = jump.size;
  }
  for (const CopyCode::InsertedExit& one : code.inserted_exits) {
    copy.exits.push_back(cpu::inserted_exit(copy.at + offsets[one.instruction],
                                            code.instructions[one.instruction].original,
                                            one.distance));
  }
  return true;
}

}  // namespace

tl::expected<FunctionCopy, CopyRefusal> copy_function(const core::FunctionToCopy& function,
                                                      const core::CopyPlace& place) {
  if (const auto refusal = check(function, place)) {
    return tl::unexpected(*refusal);
  }
  const auto units = find_units(function);
  if (!units) {
    return tl::unexpected(units.error());
  }
  const auto planned = plan_landings(function, *units);
  if (!planned) {
    return tl::unexpected(planned.error());
  }
  std::vector<FlagsReadAt> outside;
  for (const auto& [at, bytes] : function.outside) {
    if (const auto found = find_without_flags(bytes, at)) {
      outside.push_back(*found);
    }
  }
  const LiveState live = LiveState::of(*function.graph, function.bounds, function.code, outside,
                                       function.returns_flags);
  const auto branches = plan_branches(function, *units, live, place);
  const auto tables =
      plan_tables(function, *units, live, place,
                  place.counters + sizeof(std::uint64_t) *
                                       (function.graph->blocks.size() + count_own(branches)));
  auto code = make_copy_code(function, *units, live, *planned, branches, tables, place);
  if (!code) {
    return tl::unexpected(code.error());
  }
  if (code->undos.size() > FunctionCopy::kMostUndos) {
    return tl::unexpected(CopyRefusal::too_large);
  }
  const auto offsets = lay_out(*code, place.at);
  if (!offsets) {
    return tl::unexpected(CopyRefusal::out_of_reach);
  }
  if (offsets->back() > place.room) {
    return tl::unexpected(CopyRefusal::no_room);
  }

  FunctionCopy copy;
  copy.original = function.bounds;
  copy.at = place.at;
  copy.is_complete = function.is_complete;
  write_code(*code, *offsets, copy);
  write_blocks(*function.graph, place.counters, copy);
  write_branches(*units, branches, copy);
  if (!write_tables(*code, *units, tables, *offsets, copy)) {
    return tl::unexpected(CopyRefusal::out_of_reach);
  }
  if (copy.code.size() > place.room) {
    return tl::unexpected(CopyRefusal::no_room);
  }
  for (std::uint32_t i = 0; i < units->units.size(); ++i) {
    const CopyUnit& unit = units->units[i];
    const Address in_copy = place.at + (*offsets)[code->units[i]];
    const auto landing =
        make_landing((*planned)[i], unit.start, place.at + (*offsets)[code->landings[i]]);
    if (!landing) {
      return tl::unexpected(CopyRefusal::out_of_reach);
    }
    copy.landings.push_back(*landing);
    if (unit.starts_block) {
      copy.blocks[unit.block].copy = in_copy;
      copy.blocks[unit.block].pad = (*planned)[i].pad;
    }
    const core::Instruction& last = units->last_of(unit).instruction;
    if (is_kept(last.flow) && !(*planned)[i].emulates_call) {
      copy.kept.push_back(last.address);
    }
    copy.blocks[unit.block].emulates_call |= (*planned)[i].emulates_call;
  }
  for (const CopyCode::Transfer& transfer : code->transfers) {
    core::CopiedBlock& block = copy.blocks[units->units[transfer.unit].block];
    block.counts_transfer = true;
    block.saves_flags = transfer.saves_flags;
  }
  for (const core::FunctionToCopy::Place& event : function.places) {
    if (const auto block = copy.block_of(event.at)) {
      copy.blocks[*block].event_at = event.at;
      copy.blocks[*block].event_place = event.number;
    }
  }
  if (!write_exits(*code, *units, *offsets, copy)) {
    return tl::unexpected(CopyRefusal::out_of_reach);
  }
  return copy;
}

}  // namespace sp::rewriter
