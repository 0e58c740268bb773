#pragma once

#include <string_view>

namespace sp::profiler {

/// What a file of a run has, in one line, by its name.
[[nodiscard]] std::string_view describe_file(std::string_view name);

}  // namespace sp::profiler
