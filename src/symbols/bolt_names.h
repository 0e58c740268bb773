#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "symbols/elf_sections.h"

namespace sp::symbols {

/// A function of a file under the name by which BOLT's profiles call it.
struct BoltFunction {
  std::string name;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool local = false;
};

/// The functions of .symtab by address; symbols within another function are left out. Empty if the
/// file is stripped.
///
/// Names as llvm-bolt gives them (discoverFileObjects in its RewriteInstance.cpp): a global
/// function's own; a local one's with the source file of its STT_FILE symbol and a number,
/// "parse/main.c/1", or "parse/1" without such a symbol. Numbers tell symbols of one such name
/// apart, in the order of their addresses, those of data included.
[[nodiscard]] std::vector<BoltFunction> bolt_functions(const ElfSections& file);

}  // namespace sp::symbols
