#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "core/code_references.h"
#include "core/control_flow_graph.h"
#include "core/elf_image.h"

namespace sp::analyzer {

/// Finds them by decoding all code in the order of addresses, each function from its begin, and by
/// taking each aligned word of the file's other segments, relocations included, for a pointer. But
/// not what no relocation can have made one: constants of a file that is mapped anywhere.
/// Destinations in a table of offsets (a switch) are not among them: control_flow_graph.h. Any
/// thread; ends early, with whatever was found, once `stop` is true.
[[nodiscard]] core::CodeReferences find_code_references(
    const std::shared_ptr<const core::ElfImage>& image,
    std::span<const core::CandidateFunction> functions, const std::atomic<bool>& stop);

}  // namespace sp::analyzer
