#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "profiler/named_profile.h"

namespace sp::profiler {

/// What another profile has at the places of this one, for a picture of the difference.
struct FlameBefore {
  std::vector<std::uint64_t> samples;  // by node of the tree, with those above it
};

struct FlameHeading {
  std::string title;     // what was run
  std::string subtitle;  // what the widths mean and how exact they are
};

/// flamegraph.svg: a self-contained picture with zoom, search and keyboard control in a browser.
/// Loads nothing; escapes the target's names, so that they cannot become markup or script.
/// With `before`, colours say what has more samples than before (red) and what has fewer (blue).
void write_flamegraph_svg(std::ostream& out, const NamedProfile& profile,
                          const FlameHeading& heading, const FlameBefore* before = nullptr);

}  // namespace sp::profiler
