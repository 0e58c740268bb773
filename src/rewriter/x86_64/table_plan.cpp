#include "rewriter/table_plan.h"

#include <algorithm>
#include <bit>

namespace sp::rewriter {
namespace {

using core::Address;
using core::BranchTable;

class TablePlanner {
 public:
  TablePlanner(const core::FunctionToCopy& function, const CopyUnits& units, const LiveState& live,
               const core::CopyPlace& place)
      : function_(function), units_(units), live_(live), place_(place) {}

  /// They are counted.
  [[nodiscard]] bool counts() const { return place_.transfers && function_.allow_spill; }

  [[nodiscard]] std::optional<PlannedTable> plan(const CopyUnit& unit) const {
    const core::Instruction& last = units_.last_of(unit).instruction;
    const BranchTable* const table =
        last.flow == core::Flow::indirect_jump ? table_of(last.address) : nullptr;
    const auto sources = units_.code_of(unit);
    const auto jump =
        table != nullptr ? arch::x86_64::find_table_jump(sources, table->entry_size) : std::nullopt;
    // An exit's room is the first instruction of a unit that is not counted.
    if (!jump || (!unit.starts_block && jump->instructions == sources.size())) {
      return std::nullopt;
    }
    const Address load = sources[sources.size() - jump->instructions].instruction.address;
    if (load != table->load || has_event_in({load, last.next()}) ||
        (counts() && live_.before(load).flags != 0) || !reaches(*jump, table->first)) {
      return std::nullopt;
    }
    PlannedTable planned{*jump, table, 0, {}, register_of(jump->changes)};
    planned.entries.reserve(table->destinations->size());
    for (const Address destination : *table->destinations) {
      planned.entries.push_back(entry_for(destination, *jump));
    }
    const bool has_any = std::any_of(
        planned.entries.begin(), planned.entries.end(),
        [](const PlannedTable::Entry& entry) { return entry.unit != PlannedTable::kNoUnit; });
    return has_any ? std::optional(std::move(planned)) : std::nullopt;
  }

 private:
  [[nodiscard]] const BranchTable* table_of(Address jump) const {
    const auto& tables = function_.graph->tables;
    const auto found =
        std::lower_bound(tables.begin(), tables.end(), jump,
                         [](const BranchTable& one, Address at) { return one.jump < at; });
    return found != tables.end() && found->jump == jump ? &*found : nullptr;
  }

  /// The jump's displacement would lead to a table anywhere in the copy.
  [[nodiscard]] bool reaches(const arch::x86_64::TableJump& jump, Address original) const {
    const auto reaches_to = [&](Address at) {
      const std::int64_t distance =
          jump.displacement + static_cast<std::int64_t>(at.value() - original.value());
      return distance == static_cast<std::int32_t>(distance);
    };
    return reaches_to(place_.at) && reaches_to(place_.at + place_.room);
  }

  [[nodiscard]] bool has_event_in(core::AddressRange range) const {
    return std::any_of(function_.places.begin(), function_.places.end(),
                       [range](const auto& place) { return range.contains(place.at); });
  }

  static unsigned register_of(std::uint16_t changes) {
    return changes != 0 ? static_cast<unsigned>(std::countr_zero(changes)) : 0;
  }

  [[nodiscard]] PlannedTable::Entry entry_for(Address destination,
                                              const arch::x86_64::TableJump& jump) const {
    const auto unit = units_.find(destination);
    const LiveBefore live = live_.before(destination);
    const bool reads_register = (live.registers & jump.changes) != 0;
    const bool cannot_set = reads_register && std::popcount(jump.changes) > 1;
    if (!unit || cannot_set || (jump.changes_flags && live.flags != 0)) {
      return {};
    }
    return {*unit, reads_register};
  }

  const core::FunctionToCopy& function_;
  const CopyUnits& units_;
  const LiveState& live_;
  const core::CopyPlace& place_;
};

}  // namespace

std::vector<std::optional<PlannedTable>> plan_tables(const core::FunctionToCopy& function,
                                                     const CopyUnits& units, const LiveState& live,
                                                     const core::CopyPlace& place,
                                                     std::uint64_t counters) {
  std::vector<std::optional<PlannedTable>> plans(units.units.size());
  if (!function.copies_tables) {
    return plans;
  }
  const TablePlanner planner(function, units, live, place);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    plans[i] = planner.plan(units.units[i]);
    if (plans[i] && planner.counts()) {
      plans[i]->counter = counters;
      counters += sizeof(std::uint64_t) * plans[i]->entries.size();
    }
  }
  return plans;
}

}  // namespace sp::rewriter
