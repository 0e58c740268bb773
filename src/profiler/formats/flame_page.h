#pragma once

#include <string_view>

/// The parts of flamegraph.svg that are the same in every file.
namespace sp::profiler {

[[nodiscard]] std::string_view flame_style();
[[nodiscard]] std::string_view flame_dark_style();
[[nodiscard]] std::string_view flame_script();

}  // namespace sp::profiler
