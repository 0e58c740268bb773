#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>

#include "profiler/coverage.h"

namespace sp::profiler {

/// Where a module's image lies, in its own addresses.
struct ImageRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// DynamoRIO's drcov file, version 2: the blocks that were reached, for Lighthouse and others.
/// `images` has one for each module of the table; blocks outside of it are left out. Returns how
/// many blocks were written.
std::uint64_t write_drcov(std::ostream& out, const CoverageTable& table,
                          std::span<const ImageRange> images);

}  // namespace sp::profiler
