#include "commands/run_files/similar_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/edit_distance.h"

namespace sp::run_files {

std::vector<std::string> similar_names(const std::vector<std::string_view>& names,
                                       std::string_view typed) {
  constexpr std::size_t kMost = 5;
  constexpr std::size_t kBeginning = 4;
  std::set<std::string> similar;
  for (const std::size_t length : {typed.size(), std::min(typed.size(), kBeginning)}) {
    for (const std::string_view name : names) {
      const bool is_similar =
          length > 0 && name.find(typed.substr(0, length)) != std::string_view::npos;
      if (is_similar && similar.size() < kMost) {
        similar.emplace(name);
      }
    }
  }
  return {similar.begin(), similar.end()};
}

std::string nearest_names(const std::vector<std::string_view>& names, std::string_view typed) {
  std::vector<std::string> found = similar_names(names, typed);
  if (found.empty()) {
    const auto distance = [&](std::string_view name) { return core::edit_distance(name, typed); };
    const auto least = std::min_element(
        names.begin(), names.end(),
        [&](std::string_view a, std::string_view b) { return distance(a) < distance(b); });
    if (least != names.end() && distance(*least) <= std::max<std::size_t>(2, typed.size() / 3)) {
      found.emplace_back(*least);
    }
  }
  return found.empty() ? "superprofiler symbols lists them"
                       : fmt::format("near to it are {}", fmt::join(found, ", "));
}

std::string nearest_names(const std::vector<TabledFunction>& functions, std::string_view typed) {
  std::vector<std::string_view> names;
  names.reserve(functions.size());
  for (const TabledFunction& one : functions) {
    names.push_back(one.row.demangled_name);
  }
  return nearest_names(names, typed);
}

}  // namespace sp::run_files
