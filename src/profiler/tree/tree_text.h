#pragma once

#include <string>

#include "profiler/written_run.h"

namespace sp::profiler {

/// One paragraph for the summary: how large the tree is, and what is missing.
[[nodiscard]] std::string tree_text(const WrittenTree& tree);

}  // namespace sp::profiler
