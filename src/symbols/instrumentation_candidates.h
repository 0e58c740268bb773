#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/control_flow_graph.h"
#include "core/elf_image.h"
#include "symbols/code_selection.h"
#include "symbols/elf_sections.h"

namespace sp::symbols {

/// What states symbols of a module: its own file first, then its mini debug info and its separate
/// debug file, where it has no .symtab itself. `root` is put before paths of the module's own file
/// system.
[[nodiscard]] std::vector<ElfSections> find_symbol_sources(
    const std::shared_ptr<const core::ElfImage>& image, const std::string& path,
    const std::string& root, const std::vector<std::string>& debug_directories);

/// The functions of a module: from its unwind table, its symbols and its entry point, without the
/// linker's stubs (PLT). Each ends where the next one begins or where nothing says that there is
/// code: a symbol with a size splits an unwind entry that it begins in, one without ends with its
/// section. With a selection, only those that begin at a symbol that it names; none of them: none.
[[nodiscard]] core::InstrumentationCandidates find_candidates(
    const core::ElfImage& image, const std::vector<ElfSections>& sources,
    const CodeSelection& selection = {});

}  // namespace sp::symbols
