#include "supervisor/copies/thread_moves.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace sp::supervisor {

using arch::Native;
using core::Address;

namespace {

/// The word at sp + `offset`.
std::optional<std::uint64_t> word_at(const Native::Registers& registers, std::int16_t offset,
                                     arch::MemoryAccess& memory) {
  std::uint64_t value = 0;
  const Address from = Native::sp(registers) + static_cast<std::uint64_t>(std::int64_t{offset});
  return memory.read(from, std::as_writable_bytes(std::span(&value, 1))) ? std::optional(value)
                                                                         : std::nullopt;
}

bool undo(const core::FunctionCopy& copy, const core::CopyPoint& point,
          Native::Registers& registers, arch::MemoryAccess& memory) {
  const core::CopyUndo& undo = point.undo;
  for (const core::CopyUndo::Reload& reload : undo.reloads) {
    if (reload.number == core::CopyUndo::kNone) {
      continue;
    }
    const auto value = word_at(registers, reload.from, memory);
    if (!value) {
      return false;
    }
    Native::general_register(registers, reload.number) = *value;
  }
  if (undo.flags_from != core::CopyUndo::kNoFlags) {
    const auto flags = word_at(registers, undo.flags_from, memory);
    if (!flags) {
      return false;
    }
    Native::restore_flags(registers, *flags);
  }
  if (undo.entry_in != core::CopyUndo::kNone) {
    std::uint64_t& entry = Native::general_register(registers, undo.entry_in);
    const auto there = copy.to_original(Address{entry});
    entry = there ? there->original.value() : entry;  // some lead to the original
  }
  if (undo.address_in != core::CopyUndo::kNone) {
    Native::general_register(registers, undo.address_in) = point.original.value();
  }
  Native::move_sp(registers, undo.sp_shift);
  return true;
}

/// The count that is under way there has been made: of the block, or of the branch that leads
/// there.
bool has_counted(const core::CopyPoint& point, Native::Registers registers) {
  const std::uint8_t reg = point.undo.counted_if_zero;
  return reg != core::CopyUndo::kNone &&
         static_cast<std::uint32_t>(Native::general_register(registers, reg)) == 0;
}

/// Of the entry, or of another one that leads where it does. `registers`: the original's.
std::uint64_t index_of(const core::CopiedTable& table, const core::CopyUndo& undo,
                       Native::Registers registers) {
  if (undo.entry_in == core::CopyUndo::kNone) {
    return Native::general_register(registers, table.index);
  }
  const Address destination{Native::general_register(registers, undo.entry_in)};
  const auto& all = *table.destinations;
  return static_cast<std::uint64_t>(std::find(all.begin(), all.end(), destination) - all.begin());
}

}  // namespace

std::optional<ThreadMove> move_to_original(const core::FunctionCopy& copy,
                                           const Native::Registers& registers,
                                           arch::MemoryAccess& memory) {
  auto point = copy.to_original(Native::pc(registers));
  if (!point) {
    return std::nullopt;
  }
  if (has_counted(*point, registers)) {
    point->is_counted = point->is_counted || point->uncounted_branch == 0;
    point->uncounted_branch = 0;
  }
  ThreadMove move{registers, {}, point->is_transferred, point->is_in_table};
  if (!undo(copy, *point, move.registers, memory)) {
    return std::nullopt;
  }
  Native::set_pc(move.registers, point->original);
  const core::CopiedBlock& block = copy.blocks[point->block];
  CountCorrection& correction = move.correction;
  correction.counter = block.counter;
  correction.branch = point->uncounted_branch;
  if (const core::CopiedTable* const table = point->counted_by) {
    constexpr std::uint64_t kCounterSize = sizeof(std::uint64_t);
    const std::uint64_t index = index_of(*table, point->undo, move.registers);
    correction.entry =
        index < table->destinations->size() ? table->counter + kCounterSize * index : 0;
  }
  // At its leader the block is counted once the thread is back in the copy, else not at all. A jump
  // out of the function has been counted with its block.
  if (copy.original.contains(point->original)) {
    const int executions = block.is_ahead_at(point->original) ? 0 : 1;
    correction.executions = executions - (point->is_counted ? 1 : 0);
    correction.arrivals = executions - 1;
  }
  return move;
}

std::optional<CountCorrection> unfinished(const core::FunctionCopy& copy, Address pc) {
  const auto block = copy.block_of(pc);
  if (!block || copy.blocks[*block].is_ahead_at(pc)) {
    return std::nullopt;
  }
  return CountCorrection{copy.blocks[*block].counter, 0, 0, -1, 0, 0};
}

std::optional<CountCorrection> behind_pad(const core::FunctionCopy& copy, Address pc) {
  const auto block = copy.block_of(pc);
  if (!block || pc == copy.blocks[*block].start || !copy.blocks[*block].is_ahead_at(pc)) {
    return std::nullopt;
  }
  return CountCorrection{copy.blocks[*block].counter, 1, 1, -1, 0, 0};
}

std::optional<CountCorrection> stay_in_original(const core::FunctionCopy& copy, Address pc,
                                                bool is_counted) {
  const auto block = copy.block_of(pc);
  if (!block || copy.blocks[*block].is_ahead_at(pc)) {
    return std::nullopt;
  }
  const int executions = is_counted ? 0 : 1;
  return CountCorrection{copy.blocks[*block].counter, executions, executions, 1 - executions, 0, 0};
}

std::optional<ThreadMove> move_to_copy(const core::FunctionCopy& copy,
                                       const Native::Registers& registers, bool is_counted) {
  const auto place = copy.to_copy(Native::pc(registers));
  const auto point = place ? copy.to_original(*place) : std::nullopt;
  if (!point) {
    return std::nullopt;
  }
  ThreadMove move{registers, {}, false, false};
  Native::set_pc(move.registers, *place);
  // The copy counts this execution of the block: one that is counted already is none of its own.
  const core::CopiedBlock& block = copy.blocks[point->block];
  const bool is_at_unlocked = block.is_unlocked && Native::pc(registers) == block.start;
  const int executions = is_counted || is_at_unlocked ? 0 : 1;
  move.correction = {
      block.counter, executions - (point->is_counted ? 0 : 1), executions, 1 - executions, 0, 0};
  return move;
}

}  // namespace sp::supervisor
