#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbols/die_walk.h"
#include "symbols/dwarf_file.h"
#include "symbols/source_line.h"

namespace sp::symbols {

/// One function at an address, by DWARF.
struct DwarfFrame {
  std::string name;  // mangled where DWARF has the linkage name; "" where only a line is known
  bool inlined = false;
  std::optional<SourceLine> source;
  std::uint32_t discriminator = 0;  // of source, as the compiler packed it
  std::uint32_t declared = 0;       // the line of the function's declaration; 0 if unknown
};

/// DWARF's information about an address.
struct DwarfPlace {
  std::vector<DwarfFrame> frames;  // innermost first; the last one is not inlined
  CodeRange function;              // the range that holds the address; empty where unknown
};

/// Source lines and inlined functions. Indexes a unit at the first lookup of one of its addresses.
/// One thread only.
class DwarfLines {
 public:
  /// As DwarfFile.
  DwarfLines(ElfSections file, std::optional<ElfSections> alternate);

  /// Nothing if no unit holds the address. If several functions claim it (the linker folded
  /// identical ones), returns the one whose linkage name is `symbol`.
  [[nodiscard]] std::optional<DwarfPlace> find(std::uint64_t address, std::string_view symbol);
  /// The addresses in `range` at which a row of a line table begins, sorted.
  [[nodiscard]] std::vector<std::uint64_t> rows_in(const CodeRange& range);
  /// Of the function in `range`: rows that begin in it and begin a statement.
  [[nodiscard]] FunctionLines lines_of(const CodeRange& range);

 private:
  struct Function {
    CodeRange range;
    Dwarf_Die die;
  };
  struct UnitFunctions {
    Reach reach = Reach::outer;
    std::vector<Function> functions;  // by begin
  };

  void read_functions(std::uint32_t unit, UnitFunctions& into);
  /// Searches a unit's outer functions first, which are read quickly, then the nested ones.
  [[nodiscard]] const Function* function_at(std::uint32_t unit, std::uint64_t address,
                                            std::string_view symbol);
  [[nodiscard]] static const Function* find_in(const std::vector<Function>& functions,
                                               std::uint64_t address, std::string_view symbol);
  [[nodiscard]] DwarfPlace place_in(std::uint32_t unit, const Function* function,
                                    std::uint64_t address);

  DwarfFile file_;
  std::unordered_map<std::uint32_t, UnitFunctions> functions_;
};

}  // namespace sp::symbols
