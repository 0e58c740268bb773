#include "profiler/source_place.h"

#include <charconv>

namespace sp::profiler {

SourcePlace source_place(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    const char* const last = text.data() + text.size();
    std::uint64_t line = 0;
    const auto [end, error] = std::from_chars(text.data() + colon + 1, last, line);
    if (error == std::errc{} && end == last) {
      return {std::string(text.substr(0, colon)), line};
    }
  }
  return {std::string(text), 0};
}

}  // namespace sp::profiler
