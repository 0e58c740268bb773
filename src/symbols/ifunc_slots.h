#pragma once

#include <vector>

#include "core/ifunc.h"
#include "symbols/elf_sections.h"

namespace sp::symbols {

/// Words of a file that its dynamic relocations set to a function's address: of an IFUNC's resolver
/// in the file itself (IRELATIVE), or of a symbol, which may be an IFUNC's.
[[nodiscard]] std::vector<core::IfuncSlot> find_function_slots(const ElfSections& file);

}  // namespace sp::symbols
