#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "symbols/fde_bounds.h"
#include "symbols/source_line.h"

namespace sp::symbols {

/// Which functions of a unit to visit: those at its top level, in namespaces and in classes, or
/// also those within functions (members of local classes, lambdas), which requires reading every
/// entry of the unit.
enum class Reach { outer, nested };

/// Calls `visit` for the functions of a unit that have code of their own.
void for_each_function(Dwarf_Die& unit, Reach reach, const std::function<void(Dwarf_Die&)>& visit);

/// The inlined calls of `function` that hold `address`, outermost first.
[[nodiscard]] std::vector<Dwarf_Die> inlined_calls_at(Dwarf_Die& function, std::uint64_t address);

/// The linkage name of a function or of an inlined call, else its plain name; "" if it has none.
[[nodiscard]] std::string name_of(Dwarf_Die& die);

/// Where an inlined call was made.
[[nodiscard]] std::optional<SourceLine> call_site_of(Dwarf_Die& unit, Dwarf_Die& inlined_call);

/// The line of an address by its unit's line table.
[[nodiscard]] std::optional<SourceLine> line_at(Dwarf_Die& unit, std::uint64_t address);

/// The discriminators of an address's row of the line table, and of an inlined call; 0 without.
[[nodiscard]] std::uint32_t discriminator_at(Dwarf_Die& unit, std::uint64_t address);
[[nodiscard]] std::uint32_t discriminator_of_call(Dwarf_Die& inlined_call);
/// The line on which a function, or that of an inlined call, is declared; 0 if unknown.
[[nodiscard]] std::uint32_t declaration_line(Dwarf_Die& die);
/// The compiler has added the function to the program; a lambda's body is the programmer's.
[[nodiscard]] bool is_artificial(Dwarf_Die& die);
/// The function returns something else than void, and gcc has not optimized its unit.
[[nodiscard]] bool ends_in_brace(Dwarf_Die& unit, Dwarf_Die& function);
/// Adds the addresses in `range` at which a row of the unit's line table begins.
void add_line_rows(Dwarf_Die& unit, const CodeRange& range, std::vector<std::uint64_t>& rows);
/// Adds those rows themselves, as far as they begin statements.
void add_line_ranges(Dwarf_Die& unit, const CodeRange& range, std::vector<LineRange>& rows);

}  // namespace sp::symbols
