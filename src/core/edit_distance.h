#pragma once

#include <cstddef>
#include <string_view>

namespace sp::core {

/// The least number of insertions, deletions, replacements and swaps of neighbours that turn `from`
/// into `to`.
[[nodiscard]] std::size_t edit_distance(std::string_view from, std::string_view to);

}  // namespace sp::core
