#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "commands/run_files/function_table.h"

namespace sp::run_files {

/// Names that contain `typed` or begin alike, at most five: what may have been meant.
[[nodiscard]] std::vector<std::string> similar_names(const std::vector<std::string_view>& names,
                                                     std::string_view typed);

/// They, or else one that is a few letters from `typed`: "near to it are a, b"; or where all stand.
[[nodiscard]] std::string nearest_names(const std::vector<std::string_view>& names,
                                        std::string_view typed);
[[nodiscard]] std::string nearest_names(const std::vector<TabledFunction>& functions,
                                        std::string_view typed);

}  // namespace sp::run_files
