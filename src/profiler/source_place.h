#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sp::profiler {

/// "/src/demo.c:7" -> "/src/demo.c" and 7; a text without a line has line 0.
struct SourcePlace {
  std::string file;
  std::uint64_t line = 0;
};
[[nodiscard]] SourcePlace source_place(std::string_view text);

}  // namespace sp::profiler
