#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/control_flow_graph.h"
#include "core/elf_image.h"
#include "symbols/code_selection.h"
#include "symbols/debug_server.h"
#include "symbols/elf_sections.h"

namespace sp::symbols {

/// The files with symbols of a module: its own first, then, if it has no .symtab, its mini debug
/// info and its separate debug file, which `server` (it may be null) is asked for last. `root` is
/// prepended to paths of the module's own file system.
[[nodiscard]] std::vector<ElfSections> find_symbol_sources(
    const std::shared_ptr<const core::ElfImage>& image, const std::string& path,
    const std::string& root, const std::vector<std::string>& debug_directories,
    DebugServer* server = nullptr);

/// Finds the functions of a module that may be instrumented, from its unwind table, its symbols and
/// its entry point; PLT stubs are left out. A function ends where the next one begins or where its
/// unwind entry or symbol ends: a symbol with a size splits the unwind entry that it begins in, one
/// without a size extends to the end of its section. A selection keeps only functions that begin at
/// a symbol that it names.
[[nodiscard]] core::InstrumentationCandidates find_candidates(
    const core::ElfImage& image, const std::vector<ElfSections>& sources,
    const CodeSelection& selection = {});

}  // namespace sp::symbols
