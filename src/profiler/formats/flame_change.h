#pragma once

#include <cstdint>
#include <string>

/// The colours of a flame graph of the difference between two profiles.
namespace sp::profiler {

/// A box's CSS class: redder the more it has gained, bluer the more it has lost, as a share of the
/// larger; grey within the bounds of 99 % of sampling.
[[nodiscard]] std::string change_class(std::uint64_t before, std::uint64_t samples);
/// ", before: 90, +11.1%" for a tooltip.
[[nodiscard]] std::string change_text(std::uint64_t before, std::uint64_t samples);
/// Rules for all classes, as CSS.
[[nodiscard]] std::string change_rules(bool dark);

/// "#rrggbb" for the legend.
enum class Change : std::uint8_t { more, less, none };
[[nodiscard]] std::string change_colour(Change change);

}  // namespace sp::profiler
