#include "supervisor/instruments/probes/reached_code.h"

#include <algorithm>
#include <iterator>

namespace sp::supervisor {

void ReachedRanges::add(std::uint64_t begin, std::uint64_t end) {
  auto next = ends_.lower_bound(begin);
  if (next != ends_.begin() && std::prev(next)->second >= begin) {
    next = std::prev(next);
    begin = next->first;
  }
  while (next != ends_.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = ends_.erase(next);
  }
  ends_.emplace(begin, end);
}

bool ReachedRanges::contains(std::uint64_t address) const {
  const auto above = ends_.upper_bound(address);
  return above != ends_.begin() && address < std::prev(above)->second;
}

bool ReachedRanges::has_any_in(std::uint64_t begin, std::uint64_t end) const {
  const auto next = ends_.lower_bound(begin);
  return contains(begin) || (next != ends_.end() && next->first < end);
}

CoveredFile& RunCoverage::file(const CodeAnalysis::File& file, CodeAnalysis& analysis) {
  const std::string key = file.image == nullptr ? file.path : file.image->identity();
  const auto [entry, is_new] = files_.try_emplace(key);
  if (is_new) {
    for (const core::ReachedRange range : analysis.known_reached(file)) {
      entry->second.reached.add(range.begin, range.end);
    }
  }
  return entry->second;
}

}  // namespace sp::supervisor
