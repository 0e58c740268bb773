#pragma once

#include <string_view>

namespace sp::symbols {

/// The function that a linkage name's code is a part of: gcc and clang put what is rarely executed
/// elsewhere, as NAME.cold or NAME.cold.NUMBER. The whole name if it is not of that form:
/// "main.coldStart" is a function.
[[nodiscard]] std::string_view whole_of_cold_part(std::string_view name);

[[nodiscard]] bool is_cold_part(std::string_view name);

}  // namespace sp::symbols
