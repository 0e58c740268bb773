#include "rewriter/table_code.h"

namespace sp::rewriter {

using arch::x86_64::SourceInstruction;

void add_table_jump(std::uint32_t unit, const PlannedTable& table, CopyWriter& writer) {
  CopyCode::Table made{unit, 0, 0};
  if (table.counter != 0) {
    writer.emit(arch::x86_64::increment_indexed(table.counter, table.jump.index));
    writer.set_in_entry(true);
  }
  made.jump = writer.size();
  writer.emit(arch::x86_64::jump_by_addresses(table.jump));
  made.otherwise = writer.size();
  if (table.counter != 0) {
    writer.emit(arch::x86_64::decrement_indexed(table.counter, table.jump.index));
    writer.set_in_entry(false);
  }
  writer.made().tables.push_back(made);
}

std::optional<core::CopyRefusal> add_table_load(std::uint32_t unit, const PlannedTable& table,
                                                std::span<const SourceInstruction> sources,
                                                CopyWriter& writer) {
  if (table.counter != 0) {
    writer.emit(arch::x86_64::increment_indexed(table.counter, table.jump.index));
    writer.set_in_entry(true);
    writer.made().transfers.push_back({unit, false});
  }
  writer.made().tables.push_back({unit, writer.size(), 0});
  writer.emit(arch::x86_64::load_from_addresses(table.jump));
  writer.set_undo(writer.undo({.entry_in = static_cast<std::uint8_t>(table.reg)}));
  std::optional<core::CopyRefusal> refusal;
  for (const SourceInstruction& source : sources.subspan(1)) {
    writer.at(source.instruction.address, true);
    if (const auto moved = arch::x86_64::move_unchanged(source)) {
      writer.emit(*moved);
    } else {
      refusal = core::CopyRefusal::unmovable;
    }
  }
  writer.set_undo(0);
  writer.set_in_entry(false);
  return refusal;
}

void add_setters(const PlannedTable& table, const CopyUnits& units, CopyWriter& writer) {
  const auto undo = writer.undo({.address_in = static_cast<std::uint8_t>(table.reg)});
  for (const PlannedTable::Entry& entry : table.entries) {
    const bool is_new =
        entry.sets_register &&
        writer.made().setters.try_emplace({table.reg, entry.unit}, writer.size()).second;
    if (is_new) {
      const CopyUnit& unit = units.units[entry.unit];
      writer.continue_at(unit.start);
      writer.set_counted(!unit.starts_block);
      writer.emit(arch::x86_64::load_address(table.reg, unit.start), undo);
      writer.emit(arch::x86_64::jump_to(unit.start)).to_unit = entry.unit;
    }
  }
}

}  // namespace sp::rewriter
