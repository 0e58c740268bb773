#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rewriter/copy_code.h"

namespace sp::rewriter {

/// Gives each instruction its place, from `at` on, and makes jumps as short as they can be. Returns
/// their offsets, and the whole size at the end; nothing if a displacement does not reach.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> lay_out(CopyCode& code, core::Address at);

}  // namespace sp::rewriter
