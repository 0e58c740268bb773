#include "symbols/filter_rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/edit_distance.h"

namespace sp::symbols {
namespace {

std::string_view subject_of(const FunctionFacts& facts, FilterRule::Subject subject) {
  switch (subject) {
    case FilterRule::Subject::module:
      return facts.module;
    case FilterRule::Subject::linkage_name:
      return facts.linkage_name;
    case FilterRule::Subject::demangled_name:
      return facts.demangled_name;
    case FilterRule::Subject::source_file:
      return facts.source_file;
  }
  return {};
}

bool is_within(const FunctionFacts& facts, const FilterRule::Bound& bound) {
  const auto& value = bound.measure == FilterRule::Measure::size ? facts.size : facts.instructions;
  return value && (bound.is_below ? *value < bound.limit : *value > bound.limit);
}

}  // namespace

bool FilterRule::matches(const FunctionFacts& facts) const {
  return (!xray_always || xray_always == facts.xray_always) &&
         std::all_of(bounds.begin(), bounds.end(),
                     [&](const Bound& bound) { return is_within(facts, bound); }) &&
         std::all_of(texts.begin(), texts.end(), [&](const Text& text) {
           const std::string_view subject = subject_of(facts, text.subject);
           return !subject.empty() && text.pattern.matches(subject);
         });
}

std::string nearest_word(std::string_view typed, const std::vector<std::string_view>& known) {
  const auto distance = [typed](std::string_view word) { return core::edit_distance(typed, word); };
  const auto nearest =
      std::min_element(known.begin(), known.end(),
                       [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  constexpr std::size_t kShort = 2;
  if (nearest != known.end() && distance(*nearest) <= std::max(kShort, typed.size() / 3)) {
    return fmt::format("did you mean {}?", *nearest);
  }
  return fmt::format("known are {}", fmt::join(known, ", "));
}

}  // namespace sp::symbols
