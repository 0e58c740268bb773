#include "rewriter/table_writer.h"

#include <cstddef>
#include <cstring>
#include <limits>
#include <map>

namespace sp::rewriter {
namespace {

using core::FunctionCopy;

constexpr std::uint64_t kEntry = sizeof(std::uint64_t);

/// The same tables are written once.
class TableData {
 public:
  explicit TableData(FunctionCopy& copy) : copy_(copy), begin_(copy.code.size()) {}

  core::Address place(const std::vector<std::uint64_t>& entries) {
    const auto [known, is_new] = places_.try_emplace(entries);
    if (is_new) {
      const std::uint64_t end = (copy_.at + copy_.code.size()).value();
      copy_.code.resize(copy_.code.size() + (kEntry - end % kEntry) % kEntry, std::byte{0xCC});
      known->second = copy_.at + copy_.code.size();
      const auto bytes = std::as_bytes(std::span(entries));
      copy_.code.insert(copy_.code.end(), bytes.begin(), bytes.end());
      copy_.data = copy_.code.size() - begin_;
    }
    return known->second;
  }

 private:
  FunctionCopy& copy_;
  std::uint64_t begin_;
  std::map<std::vector<std::uint64_t>, core::Address> places_;
};

bool set_displacement(const PlannedTable& planned, core::Address table, std::uint64_t end,
                      FunctionCopy& copy) {
  using Reach = std::numeric_limits<std::int32_t>;
  const std::int64_t distance =
      planned.jump.displacement +
      static_cast<std::int64_t>(table.value() - planned.table->first.value());
  if (distance < Reach::min() || distance > Reach::max()) {
    return false;
  }
  const auto displacement = static_cast<std::int32_t>(distance);
  std::memcpy(&copy.code[end - sizeof displacement], &displacement, sizeof displacement);
  return true;
}

}  // namespace

bool write_tables(const CopyCode& code, const CopyUnits& units,
                  std::span<const std::optional<PlannedTable>> planned,
                  const std::vector<std::uint32_t>& offsets, FunctionCopy& copy) {
  TableData data(copy);
  for (const CopyCode::Table& made : code.tables) {
    const PlannedTable& table = *planned[made.unit];
    std::vector<std::uint64_t> entries;
    entries.reserve(table.entries.size());
    for (std::size_t i = 0; i < table.entries.size(); ++i) {
      const PlannedTable::Entry& to = table.entries[i];
      const bool has_unit = to.unit != PlannedTable::kNoUnit;
      if (!has_unit && table.jump.is_apart) {
        entries.push_back((*table.table->destinations)[i].value());
        continue;
      }
      const std::size_t instruction = to.sets_register ? code.setters.at({table.reg, to.unit})
                                      : has_unit       ? code.units[to.unit]
                                                       : made.otherwise;
      entries.push_back((copy.at + offsets[instruction]).value());
      if (has_unit && units.units[to.unit].is_of_tables && units.units[to.unit].starts_block) {
        copy.blocks[units.units[to.unit].block].is_dispatched = true;
      }
    }
    if (!set_displacement(table, data.place(entries), offsets[made.jump + 1], copy)) {
      return false;
    }
    if (table.counter != 0) {
      copy.tables.push_back({units.units[made.unit].block,
                             static_cast<std::uint8_t>(table.jump.index), table.counter,
                             table.table->destinations});
    }
  }
  for (const auto& table : planned) {
    copy.counters +=
        table && table->counter != 0 ? static_cast<std::uint32_t>(table->entries.size()) : 0;
  }
  return true;
}

}  // namespace sp::rewriter
