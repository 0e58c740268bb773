#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "symbols/elf_sections.h"
#include "symbols/fde_bounds.h"

namespace sp::symbols {

/// The code ranges of a DIE (a unit, a function). Left out are ranges at 0 or another tombstone, of
/// functions that the linker dropped, and the rest of a damaged, endless list.
[[nodiscard]] std::vector<CodeRange> code_ranges(Dwarf_Die& die);

/// An open libdw handle on a file in memory, with the file that dwz may have split off, and an
/// index of the units by address. The index is made from the units' ranges, because clang does not
/// write .debug_aranges. One thread only.
class DwarfFile {
 public:
  /// One compilation unit. With split DWARF `functions` is in the .dwo file, else equal to `lines`.
  struct Unit {
    Dwarf_Die lines;
    Dwarf_Die functions;
  };

  /// Not valid() if `file` has no readable DWARF.
  DwarfFile(ElfSections file, std::optional<ElfSections> alternate);
  DwarfFile(const DwarfFile&) = delete;
  DwarfFile& operator=(const DwarfFile&) = delete;
  ~DwarfFile();

  [[nodiscard]] bool valid() const { return main_.dwarf != nullptr; }
  /// Indices of the units that hold `address`; normally one.
  [[nodiscard]] std::vector<std::uint32_t> units_at(std::uint64_t address);
  /// Of the whole file.
  [[nodiscard]] std::uint32_t unit_count();
  [[nodiscard]] Unit& unit(std::uint32_t index) { return units_[index]; }

 private:
  struct Handle {
    std::optional<ElfSections> file;
    std::vector<std::byte> copy;  // of the file, where libelf must write into it
    Elf* elf = nullptr;
    Dwarf* dwarf = nullptr;
  };
  struct UnitRange {
    CodeRange range;
    std::uint32_t unit = 0;
  };

  static Handle open(std::optional<ElfSections> file);
  static void close(Handle& handle);
  void index_units();

  Handle main_;
  Handle alternate_;
  bool indexed_ = false;
  std::vector<Unit> units_;
  std::vector<UnitRange> ranges_;  // by begin
  std::uint64_t longest_ = 0;      // size of the longest range
};

}  // namespace sp::symbols
