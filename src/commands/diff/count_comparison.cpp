#include "commands/diff/count_comparison.h"

#include <algorithm>
#include <string>

namespace sp::diff {
namespace {

using Counts = std::vector<std::optional<Count>>;
using Numbers = std::vector<std::uint64_t>;

Numbers sorted_numbers(const Counts& counts) {
  Numbers numbers;
  for (const auto& count : counts) {
    numbers.push_back(count->number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

bool are_apart(const Numbers& before, const Numbers& after) {
  const bool grown = after.front() > before.back();
  if (!grown && before.front() <= after.back()) {
    return false;
  }
  const std::uint64_t gap = grown ? after.front() - before.back() : before.front() - after.back();
  return gap > std::max(before.back() - before.front(), after.back() - after.front());
}

}  // namespace

Pair compare_counts(Metric metric, const Counts& before, const Counts& after) {
  Pair pair;
  pair.metric = metric;
  bool some = false;
  bool every = true;
  for (const Counts* side : {&before, &after}) {
    for (const auto& count : *side) {
      const bool is_known = count && !count->kind.empty();
      some = some || is_known;
      every = every && count;
      if (is_known && pair.kind.empty()) {
        pair.kind = count->kind;
      } else if (is_known && pair.kind != count->kind) {
        pair.kind = kMixed;
      }
    }
  }
  if (!some) {
    return pair;
  }
  if (!every || pair.kind == kMixed || pair.kind.find("until") != std::string::npos) {
    pair.state = Pair::State::incomparable;
    return pair;
  }
  const Numbers old_numbers = sorted_numbers(before);
  const Numbers new_numbers = sorted_numbers(after);
  pair.state = Pair::State::compared;
  pair.before = old_numbers[old_numbers.size() / 2];
  pair.after = new_numbers[new_numbers.size() / 2];
  pair.varies =
      old_numbers.front() != old_numbers.back() || new_numbers.front() != new_numbers.back();
  pair.certain = are_apart(old_numbers, new_numbers);
  pair.changed = pair.certain;
  return pair;
}

}  // namespace sp::diff
