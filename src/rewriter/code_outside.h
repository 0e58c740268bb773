#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "rewriter/live_state.h"

namespace sp::rewriter {

/// Of code that begins with these bytes and reads none of the arithmetic flags that are set when
/// control comes there, or only once it is back at `then`. Nothing of other code.
[[nodiscard]] std::optional<FlagsReadAt> find_without_flags(std::span<const std::byte> code,
                                                            core::Address at);

}  // namespace sp::rewriter
