#include "profiler/formats/flame_colours.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>

namespace sp::profiler {
namespace {

constexpr FlameFamily kExecutable = {'e', "program", 6, 36, 84, 92, 60, 66};
constexpr FlameFamily kLibrary = {'l', "library", 38, 54, 82, 92, 58, 68};
constexpr FlameFamily kJit = {'j', "JIT", 88, 138, 42, 56, 56, 66};
constexpr FlameFamily kBlocked = {'b', "blocked in the kernel", 204, 222, 38, 52, 66, 76};
constexpr FlameFamily kPlain = {'p', "unknown or a marker", 30, 40, 6, 10, 76, 84};

/// FNV-1a, so that colours are the same on every machine.
std::uint32_t hash_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return hash ^ (hash >> 15U);
}

struct Shade {
  double hue, saturation, lightness;
};

/// Spreads `number` over the three ranges with different steps, so that neighbours differ.
Shade shade(const FlameFamily& family, unsigned number) {
  const auto within = [number](double from, double to, unsigned pace) {
    return from + (to - from) * static_cast<double>(number * pace % kShades) / (kShades - 1);
  };
  return {within(family.hue_from, family.hue_to, 1),
          within(family.saturation_from, family.saturation_to, 5),
          within(family.lightness_from, family.lightness_to, 7)};
}

char capital(char letter) {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
}

}  // namespace

// CSS Color 4, "hsl to rgb".
std::string hex_colour(double hue, double saturation, double lightness) {
  const double s = saturation / 100;
  const double l = lightness / 100;
  const auto channel = [&](double n) {
    const double k = std::fmod(n + hue / 30, 12);
    const double value = l - s * std::min(l, 1 - l) * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
    return static_cast<unsigned>(std::lround(value * 255));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(8), channel(4));
}

const FlameFamily& family_of(FunctionKind kind) {
  switch (kind) {
    case FunctionKind::executable:
      return kExecutable;
    case FunctionKind::library:
      return kLibrary;
    case FunctionKind::jit:
      return kJit;
    case FunctionKind::blocked:
      return kBlocked;
    case FunctionKind::unknown:
    case FunctionKind::collapsed:
    case FunctionKind::truncated:
    case FunctionKind::thread:
      return kPlain;
  }
  return kPlain;
}

std::string colour_class(const FlameFamily& family, std::string_view name, bool inlined) {
  const char letter = inlined ? capital(family.letter) : family.letter;
  return fmt::format("{}{}", letter, hash_of(name) % kShades);
}

std::string shade_colour(const FlameFamily& family, unsigned number, bool inlined, bool dark) {
  const auto [hue, saturation, lightness] = shade(family, number);
  const double dimmed = dark ? lightness - 7 : lightness;
  const double muted = dark ? saturation * 0.82 : saturation;
  return hex_colour(hue, muted, inlined ? dimmed + (100 - dimmed) * (dark ? 0.30 : 0.45) : dimmed);
}

std::string colour_rules(const FlameFamily& family, bool dark) {
  std::string rules;
  for (unsigned number = 0; number < kShades; ++number) {
    rules += fmt::format(".{}{}{{fill:{}}}.{}{}{{fill:{}}}\n", family.letter, number,
                         shade_colour(family, number, false, dark), capital(family.letter), number,
                         shade_colour(family, number, true, dark));
  }
  return rules;
}

std::string legend_colour(const FlameFamily& family) {
  return hex_colour((family.hue_from + family.hue_to) / 2,
                    (family.saturation_from + family.saturation_to) / 2,
                    (family.lightness_from + family.lightness_to) / 2);
}

}  // namespace sp::profiler
