#include "profiler/formats/flame_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/formats/flame_colours.h"
#include "profiler/text.h"

namespace sp::profiler {
namespace {

constexpr int kSteps = 8;
constexpr double kBound = 2.576;  // standard deviations, for 99 %

struct Hue {
  char letter;
  double hue, saturation;
};
constexpr Hue kMore = {'m', 6, 88};
constexpr Hue kLess = {'f', 212, 72};
constexpr Hue kSame = {'u', 40, 8};
constexpr double kPale = 84;
constexpr double kDeep = 58;

double lightness(int step) { return kPale + (kDeep - kPale) * step / kSteps; }

}  // namespace

std::string change_class(std::uint64_t before, std::uint64_t samples) {
  const auto old_number = static_cast<double>(before);
  const auto new_number = static_cast<double>(samples);
  const double change = new_number - old_number;
  if (std::fabs(change) <= kBound * std::sqrt(old_number + new_number)) {
    return fmt::format("{}0", kSame.letter);
  }
  const double share = std::fabs(change) / std::max(old_number, new_number);
  const int step = std::clamp(static_cast<int>(std::ceil(share * kSteps)), 1, kSteps);
  return fmt::format("{}{}", change > 0 ? kMore.letter : kLess.letter, step);
}

std::string change_text(std::uint64_t before, std::uint64_t samples) {
  if (before == 0) {
    return ", before: 0";
  }
  const auto old_number = static_cast<double>(before);
  return fmt::format(", before: {}, {:+.1f}%", grouped(before),
                     100 * (static_cast<double>(samples) - old_number) / old_number);
}

std::string change_rules(bool dark) {
  std::string rules;
  for (const Hue& hue : {kMore, kLess, kSame}) {
    for (int step = 0; step <= kSteps; ++step) {
      rules += fmt::format(".{}{}{{fill:{}}}\n", hue.letter, step,
                           hex_colour(hue.hue, dark ? hue.saturation * 0.82 : hue.saturation,
                                      lightness(step) - (dark ? 7 : 0)));
    }
  }
  return rules;
}

std::string change_colour(Change change) {
  const Hue& hue = change == Change::more ? kMore : change == Change::less ? kLess : kSame;
  return hex_colour(hue.hue, hue.saturation, lightness(change == Change::none ? 0 : kSteps));
}

}  // namespace sp::profiler
