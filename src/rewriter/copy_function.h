#pragma once

#include <tl/expected.hpp>

#include "core/function_copy.h"

namespace sp::rewriter {

/// Makes the instrumented copy of a function for its place: each basic block with a counter in
/// front of or within it, calls and system calls left in the original, and the landings that lead
/// into it. Pure; any thread. What cannot be proven to behave as the original is refused.
[[nodiscard]] tl::expected<core::FunctionCopy, core::CopyRefusal> copy_function(
    const core::FunctionToCopy& function, const core::CopyPlace& place);

}  // namespace sp::rewriter
