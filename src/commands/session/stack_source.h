#pragma once

#include <memory>

#include "analyzer/analyzer.h"

namespace sp::session {

/// The supervisor's stack resolver behind the analyzer's interface: the two folders may not include
/// each other.
[[nodiscard]] std::unique_ptr<analyzer::StackSource> make_stack_source();

}  // namespace sp::session
