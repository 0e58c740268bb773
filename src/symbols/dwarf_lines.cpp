#include "symbols/dwarf_lines.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sp::symbols {

DwarfLines::DwarfLines(ElfSections file, std::optional<ElfSections> alternate)
    : file_(std::move(file), std::move(alternate)) {}

void DwarfLines::read_functions(std::uint32_t unit, UnitFunctions& into) {
  // Limits the work if, in a damaged file, each function claims every range list.
  std::size_t budget = std::size_t{1} << 21U;
  into.functions.clear();
  for_each_function(file_.unit(unit).functions, into.reach, [&](Dwarf_Die& die) {
    if (budget == 0) {
      return;
    }
    for (const CodeRange& range : code_ranges(die)) {
      into.functions.push_back({range, die});
      budget -= std::min<std::size_t>(budget, 1);
    }
  });
  std::stable_sort(
      into.functions.begin(), into.functions.end(),
      [](const Function& a, const Function& b) { return a.range.begin < b.range.begin; });
}

const DwarfLines::Function* DwarfLines::function_at(std::uint32_t unit, std::uint64_t address,
                                                    std::string_view symbol) {
  const auto [entry, is_new] = functions_.try_emplace(unit);
  UnitFunctions& known = entry->second;
  if (is_new) {
    read_functions(unit, known);
  }
  const Function* found = find_in(known.functions, address, symbol);
  if (found == nullptr && known.reach == Reach::outer) {
    known.reach = Reach::nested;
    read_functions(unit, known);
    found = find_in(known.functions, address, symbol);
  }
  return found;
}

const DwarfLines::Function* DwarfLines::find_in(const std::vector<Function>& functions,
                                                std::uint64_t address, std::string_view symbol) {
  auto at = std::upper_bound(
      functions.begin(), functions.end(), address,
      [](std::uint64_t a, const Function& other) { return a < other.range.begin; });
  // Functions' code does not nest, so all that hold the address directly precede `at`.
  constexpr int kMostFolded = 64;
  const Function* found = nullptr;
  for (int steps = 0; at != functions.begin() && steps < kMostFolded; ++steps) {
    --at;
    if (!at->range.contains(address)) {
      break;
    }
    found = &*at;
    Dwarf_Die die = at->die;
    if (symbol.empty() || name_of(die) == symbol) {
      break;
    }
  }
  return found;
}

DwarfPlace DwarfLines::place_in(std::uint32_t unit_index, const Function* function,
                                std::uint64_t address) {
  DwarfFile::Unit& unit = file_.unit(unit_index);
  DwarfPlace place;
  std::optional<SourceLine> source = line_at(unit.lines, address);
  std::uint32_t discriminator = discriminator_at(unit.lines, address);
  if (function == nullptr) {
    place.frames.push_back({"", false, std::move(source), discriminator, 0});
    return place;
  }
  place.function = function->range;
  Dwarf_Die die = function->die;
  std::vector<Dwarf_Die> calls = inlined_calls_at(die, address);
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    place.frames.push_back(
        {name_of(*call), true, std::move(source), discriminator, declaration_line(*call)});
    source = call_site_of(unit.lines, *call);
    discriminator = discriminator_of_call(*call);
  }
  place.frames.push_back(
      {name_of(die), false, std::move(source), discriminator, declaration_line(die)});
  return place;
}

std::optional<DwarfPlace> DwarfLines::find(std::uint64_t address, std::string_view symbol) {
  std::optional<DwarfPlace> found;
  for (const std::uint32_t unit : file_.units_at(address)) {
    const Function* function = function_at(unit, address, symbol);
    DwarfPlace place = place_in(unit, function, address);
    if (function != nullptr && (symbol.empty() || place.frames.back().name == symbol)) {
      return place;
    }
    if (!found || (function != nullptr && found->frames.back().name.empty())) {
      found = std::move(place);
    }
  }
  return found;
}

std::vector<std::uint64_t> DwarfLines::rows_in(const CodeRange& range) {
  std::vector<std::uint64_t> rows;
  for (const std::uint32_t unit : file_.units_at(range.begin)) {
    add_line_rows(file_.unit(unit).lines, range, rows);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

FunctionLines DwarfLines::lines_of(const CodeRange& range) {
  FunctionLines lines;
  for (const std::uint32_t unit : file_.units_at(range.begin)) {
    add_line_ranges(file_.unit(unit).lines, range, lines.rows);
    if (const Function* const function = function_at(unit, range.begin, {})) {
      Dwarf_Die die = function->die;
      lines.declared = declaration_line(die);
      lines.is_artificial = is_artificial(die);
      lines.ends_in_brace = ends_in_brace(file_.unit(unit).functions, die);
    }
  }
  std::stable_sort(lines.rows.begin(), lines.rows.end(),
                   [](const LineRange& a, const LineRange& b) { return a.begin < b.begin; });
  return lines;
}

}  // namespace sp::symbols
