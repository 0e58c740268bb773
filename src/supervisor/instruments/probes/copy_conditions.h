#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/code_references.h"
#include "core/function_copy.h"
#include "supervisor/instruments/probes/probed_code.h"

// What a module's references say about copies of its functions. `bias`: of the module.
namespace sp::supervisor {

/// The bytes between the function and the next one, if no jump leads there.
[[nodiscard]] std::vector<std::byte> fetch_gap_behind(ProbedCode& code,
                                                      const ProbedFunction& function,
                                                      const core::CodeReferences& references,
                                                      std::uint64_t bias);
/// Why the function gets no copy, before one is tried.
[[nodiscard]] std::optional<core::CopyRefusal> refuse_copy(ProbedCode& code,
                                                           const ProbedFunction& function,
                                                           const core::CodeReferences& references);
/// Callers of the function may read the flags that it leaves.
[[nodiscard]] bool returns_flags(const ProbedFunction& function,
                                 const core::CodeReferences& references, std::uint64_t bias);

}  // namespace sp::supervisor
