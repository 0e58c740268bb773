#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "symbols/elf_sections.h"

namespace sp::symbols {

/// A symbol of a function.
struct NamedFunction {
  std::uint64_t begin = 0;
  std::string_view symbol;  // mangled, without a version
  bool is_ifunc = false;    // of its resolver

  bool operator==(const NamedFunction&) const = default;
};

/// All symbols of functions of a module's sources (find_symbol_sources()), aliases too, by begin.
/// They are views into the sources' files.
[[nodiscard]] std::vector<NamedFunction> named_functions(const std::vector<ElfSections>& sources);

}  // namespace sp::symbols
