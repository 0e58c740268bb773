#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/named_profile.h"

namespace sp::profiler {

/// The hues of one kind of code.
struct FlameFamily {
  char letter;             // its CSS classes are LETTER0, LETTER1, ...; capital where inlined
  std::string_view label;  // for the legend
  // The ranges of a function's shade: degrees, percent, percent.
  double hue_from, hue_to;
  double saturation_from, saturation_to;
  double lightness_from, lightness_to;
};

[[nodiscard]] const FlameFamily& family_of(FunctionKind kind);
/// The same name has the same shade in every picture.
[[nodiscard]] std::string colour_class(const FlameFamily& family, std::string_view name,
                                       bool inlined);
/// How many shades a family has.
constexpr unsigned kShades = 16;
/// "#rrggbb" of one of them; the dark scheme is a little less bright.
[[nodiscard]] std::string shade_colour(const FlameFamily& family, unsigned number, bool inlined,
                                       bool dark);
/// Rules for all shades of a family, as CSS.
[[nodiscard]] std::string colour_rules(const FlameFamily& family, bool dark);
/// "#rrggbb"; degrees, percent, percent.
[[nodiscard]] std::string hex_colour(double hue, double saturation, double lightness);
/// "#rrggbb" of the family's middle, for its legend.
[[nodiscard]] std::string legend_colour(const FlameFamily& family);

}  // namespace sp::profiler
