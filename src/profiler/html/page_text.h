#pragma once

#include <string_view>

/// The parts of report.html that are the same in every file: src/profiler/html/page/, put into the
/// program by CMake.
namespace sp::profiler {

[[nodiscard]] std::string_view page_style();
[[nodiscard]] std::string_view page_body();
[[nodiscard]] std::string_view page_script();

}  // namespace sp::profiler
