#pragma once

#include <iosfwd>
#include <string>

#include "profiler/named_profile.h"

namespace sp::profiler {

struct FlameHeading {
  std::string title;     // what was run
  std::string subtitle;  // what the widths mean and how sure they are
};

/// flamegraph.svg: a picture that stands alone, and in a browser a page: zoom, search, keyboard.
/// Nothing from outside is loaded, and no name of the target can become markup or script.
void write_flamegraph_svg(std::ostream& out, const NamedProfile& profile,
                          const FlameHeading& heading);

}  // namespace sp::profiler
