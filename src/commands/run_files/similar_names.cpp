#include "commands/run_files/similar_names.h"

#include <algorithm>
#include <set>

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

}  // namespace sp::run_files
