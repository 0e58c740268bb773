#include "core/function_copy.h"

#include <algorithm>

namespace sp::core {

std::string_view to_string(CopyRefusal refusal) {
  switch (refusal) {
    case CopyRefusal::not_on_this_cpu:
      return "not on this CPU";
    case CopyRefusal::not_mapped:
      return "code that is not known";
    case CopyRefusal::unmovable:
      return "an instruction that cannot be moved";
    case CopyRefusal::out_of_reach:
      return "out of reach";
    case CopyRefusal::flags_across_calls:
      return "flags across calls";
    case CopyRefusal::no_scratch_register:
      return "no scratch register";
    case CopyRefusal::uses_counter_segment:
      return "uses the counter segment";
    case CopyRefusal::restartable_sequence:
      return "restartable sequence";
    case CopyRefusal::too_large:
      return "too large";
    case CopyRefusal::open_function:
      return "entered anywhere";
    case CopyRefusal::no_room:
      return "no room";
    case CopyRefusal::no_counter:
      return "no counter";
    case CopyRefusal::no_events:
      return "calls that only breakpoints can tell";
  }
  return "";
}

std::uint32_t most_counters(const ControlFlowGraph& graph, bool counts_tables) {
  const auto branches =
      std::count_if(graph.blocks.begin(), graph.blocks.end(), [](const BasicBlock& block) {
        return !block.falls_through && block.last.flow == Flow::branch;
      });
  std::size_t entries = 0;
  for (const BranchTable& table : graph.tables) {
    entries += counts_tables ? table.destinations->size() : 0;
  }
  return static_cast<std::uint32_t>(graph.blocks.size() + entries) +
         static_cast<std::uint32_t>(branches);
}

std::vector<const CopyLanding*> FunctionCopy::changes_from(Address pc) const {
  const auto from = std::lower_bound(
      landings.begin(), landings.end(), pc,
      [](const CopyLanding& landing, Address wanted) { return landing.at < wanted; });
  const auto next = std::find_if(from, landings.end(), [](const CopyLanding& landing) {
    return landing.form != CopyLanding::Form::none;
  });
  std::vector<const CopyLanding*> changes;
  if (next != landings.end() && next->at == pc) {
    return changes;
  }
  const AddressRange ahead{pc, next != landings.end() ? next->at : original.end};
  const auto overlaps = [&ahead](Address first, std::uint8_t size) {
    return size > 0 && first < ahead.end && ahead.begin < first + size;
  };
  for (const CopyLanding& landing : landings) {
    if (landing.form == CopyLanding::Form::jump &&
        (overlaps(landing.at, landing.size) || overlaps(landing.via, landing.via_size))) {
      changes.push_back(&landing);
    }
  }
  return changes;
}

std::optional<CopyPoint> FunctionCopy::to_original(Address pc) const {
  if (!range().contains(pc)) {
    return std::nullopt;
  }
  const auto offset = static_cast<std::uint32_t>(pc - at);
  const auto found = std::lower_bound(
      map.begin(), map.end(), offset,
      [](const MapEntry& entry, std::uint32_t wanted) { return entry.copy < wanted; });
  if (found == map.end() || found->copy != offset) {
    return std::nullopt;
  }
  CopyPoint point;
  point.original = original_of(*found);
  if (const auto block = block_of(point.original)) {
    point.block = *block;
  } else {
    const auto after = std::upper_bound(
        blocks.begin(), blocks.end(), pc,
        [](Address wanted, const CopiedBlock& copied) { return wanted < copied.copy; });
    point.block = static_cast<std::uint32_t>(after - blocks.begin() - 1);
  }
  point.is_counted = found->is_counted != 0;
  point.undo = undos[found->undo];
  point.is_transferred = found->is_transferred != 0;
  point.is_in_table = point.undo.reloads[1].number != CopyUndo::kNone;
  if (found->is_in_entry != 0) {
    const auto table = std::find_if(tables.begin(), tables.end(), [&point](const CopiedTable& one) {
      return one.block == point.block;
    });
    point.counted_by = table != tables.end() ? &*table : nullptr;
  }
  if (found->is_branching != 0) {
    const auto branch =
        std::find_if(branches.begin(), branches.end(), [&point](const CopiedBranch& one) {
          return one.counted == CopiedBranch::Counted::next && one.next == point.original;
        });
    point.uncounted_branch = branch != branches.end() ? branch->counter : 0;
  }
  return point;
}

std::optional<Address> FunctionCopy::to_copy(Address original_pc) const {
  const auto block = block_of(original_pc);
  if (!block) {
    return std::nullopt;
  }
  const auto offset = static_cast<std::uint32_t>(blocks[*block].copy - at);
  auto entry = std::lower_bound(
      map.begin(), map.end(), offset,
      [](const MapEntry& left, std::uint32_t wanted) { return left.copy < wanted; });
  const auto end = *block + 1 < blocks.size()
                       ? static_cast<std::uint32_t>(blocks[*block + 1].copy - at)
                       : static_cast<std::uint32_t>(code.size());
  for (; entry != map.end() && entry->copy < end; ++entry) {
    if (entry->is_entry != 0 && original_of(*entry) == original_pc) {
      return at + entry->copy;
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> FunctionCopy::block_of(Address original_pc) const {
  const auto after = std::upper_bound(
      blocks.begin(), blocks.end(), original_pc,
      [](Address wanted, const CopiedBlock& block) { return wanted < block.start; });
  if (after == blocks.begin()) {
    return std::nullopt;
  }
  const CopiedBlock& block = *std::prev(after);
  if (original_pc.value() >= block.start.value() + block.size) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(std::prev(after) - blocks.begin());
}

}  // namespace sp::core
