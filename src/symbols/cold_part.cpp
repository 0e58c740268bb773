#include "symbols/cold_part.h"

#include <cstddef>

namespace sp::symbols {

std::string_view whole_of_cold_part(std::string_view name) {
  constexpr std::string_view kCold = ".cold";
  std::string_view part = name;
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last != std::string_view::npos && last + 1 < name.size() && name[last] == '.') {
    part = name.substr(0, last);
  }
  return part.ends_with(kCold) ? part.substr(0, part.size() - kCold.size()) : name;
}

bool is_cold_part(std::string_view name) { return whole_of_cold_part(name).size() < name.size(); }

}  // namespace sp::symbols
