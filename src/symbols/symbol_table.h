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
  /// False where the symbol states no size (hand-written assembly) and `end` is only where the
  /// next symbol or its section ends.
  bool sized = true;
};

/// The functions of one module's .symtab and .dynsym sections, from its own file and from what
/// was found beside it. Names are views into those files, which this keeps alive.
class SymbolTable {
 public:
  /// All sources state addresses of the same module.
  explicit SymbolTable(std::vector<ElfSections> sources);

  /// The innermost symbol whose bytes hold `address`, never merely the nearest one. Of several at
  /// the same place: functions before labels, then the fewest leading underscores (malloc before
  /// __libc_malloc), global before weak before local, then the shortest.
  [[nodiscard]] std::optional<SymbolHit> find(std::uint64_t address) const;
  /// The name of the symbol that begins exactly here; "" where none does.
  [[nodiscard]] std::string_view starting_at(std::uint64_t address) const;
  /// Where the symbol of that name begins.
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
  void sort();
  void lay_out();
  static bool better(const Symbol& a, const Symbol& b);

  std::vector<ElfSections> sources_;
  std::vector<Symbol> symbols_;  // by begin, best first
  std::vector<Stretch> stretches_;
};

}  // namespace sp::symbols
