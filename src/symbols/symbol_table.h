#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "symbols/elf_sections.h"

namespace sp::symbols {

/// The symbol that holds an address.
struct SymbolHit {
  std::string_view name;  // as the file spells it: mangled, perhaps with "@@VERSION"
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  /// False if the symbol has no size (hand-written assembly): `end` is then the beginning of the
  /// next symbol or the end of the section.
  bool sized = true;
};

/// The functions of one module's .symtab and .dynsym sections, from its own file and its separate
/// ones, and of Go's table (go_functions.h). Names are views into those files, which this keeps
/// alive.
class SymbolTable {
 public:
  /// All sources use the addresses of the same module.
  explicit SymbolTable(std::vector<ElfSections> sources);

  /// The innermost symbol that contains `address`, never merely the nearest one. Among several with
  /// the same range: functions before labels, then the fewest leading underscores (malloc before
  /// __libc_malloc), global before weak before local, then the shortest.
  [[nodiscard]] std::optional<SymbolHit> find(std::uint64_t address) const;
  /// The name of the symbol that begins exactly here; "" if none does.
  [[nodiscard]] std::string_view starting_at(std::uint64_t address) const;
  /// The beginning of the symbol of that name.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::string_view name) const;
  [[nodiscard]] std::size_t size() const { return symbols_.size(); }

 private:
  struct Symbol {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // unsized: the end of its section
    const char* name = nullptr;
    std::uint32_t name_size = 0;
    std::uint8_t rank = 0;  // lower is better
    bool sized = true;

    [[nodiscard]] std::string_view view() const { return {name, name_size}; }
  };
  /// A stretch of addresses that belongs to one symbol; stretches do not overlap.
  struct Stretch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint32_t symbol = 0;
  };

  void read(const ElfSections& file, const Section& table);
  void add(std::string_view name, std::uint64_t begin, std::uint64_t end, std::uint8_t rank,
           bool sized);
  void sort();
  void lay_out();
  static bool better(const Symbol& a, const Symbol& b);

  std::vector<ElfSections> sources_;
  std::vector<Symbol> symbols_;  // by begin, best first
  std::vector<Stretch> stretches_;
};

}  // namespace sp::symbols
