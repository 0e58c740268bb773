#pragma once

#include <string>

#include "symbols/elf_sections.h"

namespace sp::symbols_command {

/// The first difference between a file and the debug file that is said to be its: the build-id, or
/// name, address or size of a section that is in memory. "" if there is none.
[[nodiscard]] std::string first_difference(const symbols::ElfSections& file,
                                           const symbols::ElfSections& debug_file);

}  // namespace sp::symbols_command
