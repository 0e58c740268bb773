#pragma once

#include <cstdint>
#include <unordered_map>

#include "symbols/elf_sections.h"

namespace sp::symbols {

/// The 8-byte words of a part of a file as the loader leaves them, less the load bias: as ELF
/// virtual addresses. A file may hold zeros where its dynamic relocations have the value.
class RelocatedWords {
 public:
  /// Of the words in [begin, end), ELF virtual addresses.
  RelocatedWords(const ElfSections& sections, std::uint64_t begin, std::uint64_t end);

  /// The word at `address`, where the file holds `stored`.
  [[nodiscard]] std::uint64_t value(std::uint64_t address, std::uint64_t stored) const;

 private:
  void read(const ElfSections& sections, const Section& relocations, std::uint64_t begin,
            std::uint64_t end);

  std::unordered_map<std::uint64_t, std::uint64_t> values_;
};

}  // namespace sp::symbols
