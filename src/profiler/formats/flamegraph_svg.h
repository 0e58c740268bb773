#pragma once

#include <iosfwd>
#include <string>

#include "profiler/named_profile.h"

namespace sp::profiler {

struct FlameHeading {
  std::string title;     // what was run
  std::string subtitle;  // what the widths mean and how exact they are
};

/// flamegraph.svg: a self-contained picture with zoom, search and keyboard control in a browser.
/// Loads nothing; escapes the target's names, so that they cannot become markup or script.
void write_flamegraph_svg(std::ostream& out, const NamedProfile& profile,
                          const FlameHeading& heading);

}  // namespace sp::profiler
