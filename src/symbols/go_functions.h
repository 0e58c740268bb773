#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "symbols/elf_sections.h"

namespace sp::symbols {

/// A function of Go's own table.
struct GoFunction {
  std::uint64_t begin = 0;  // ELF virtual addresses
  std::uint64_t end = 0;    // without the padding behind it
  std::string_view name;    // "main.main": a view into the file
};

/// The functions of a Go program that has no symbols (`go build -ldflags=-s`, strip), by begin,
/// from the table that its runtime prints stacks with (.gopclntab, of Go 1.2 and later). None for a
/// file with symbols, whose names are the same, and for other programs. What is damaged is left
/// out.
[[nodiscard]] std::vector<GoFunction> go_functions(const ElfSections& file);

}  // namespace sp::symbols
