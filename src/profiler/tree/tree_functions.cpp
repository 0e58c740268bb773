#include "profiler/tree/tree_functions.h"

#include <algorithm>
#include <iterator>

namespace sp::profiler {

std::uint32_t TreeFunctions::add(const core::TracedFunction<core::ModuleOffset>& traced) {
  const std::uint32_t number = add(traced.start);
  Function& function = functions_[number];
  function.size = std::max(function.size, traced.size);
  function.has_places = true;
  function.is_part = function.is_part || traced.is_part;
  if (traced.until && (!function.until || *traced.until < *function.until)) {
    function.until = traced.until;
  }
  ranges_.emplace(traced.start, number);
  return number;
}

std::uint32_t TreeFunctions::add(core::ModuleOffset start) {
  const auto number = static_cast<std::uint32_t>(functions_.size());
  const auto [known, is_new] = numbers_.try_emplace(start, number);
  if (is_new) {
    functions_.push_back({.start = start});
  }
  return known->second;
}

std::uint32_t TreeFunctions::holding(core::ModuleOffset where) const {
  const auto above = ranges_.upper_bound(where);
  if (above == ranges_.begin()) {
    return kNone;
  }
  const auto& [start, number] = *std::prev(above);
  const bool holds =
      start.module == where.module && where.offset - start.offset < functions_[number].size;
  return holds ? number : kNone;
}

}  // namespace sp::profiler
