#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sp::run_files {

/// Names that contain `typed` or begin alike, at most five: what may have been meant.
[[nodiscard]] std::vector<std::string> similar_names(const std::vector<std::string_view>& names,
                                                     std::string_view typed);

}  // namespace sp::run_files
