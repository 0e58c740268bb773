#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "core/clock.h"
#include "core/module.h"
#include "profiler/named_code.h"

namespace sp::profiler {

/// What the rows of one run's counts have in common.
struct CountsContext {
  std::span<const core::Module> modules;
  std::string kind;         // "exact", "exact-since:2.000"
  core::TimePoint started;  // first_us and last_us count from here
};

/// blocks.tsv: a header, then one row for each block in the order of `code`.
void write_blocks_tsv(std::ostream& out, const NamedCode& code, const CountsContext& context);

/// edges.tsv: a header, then one row for each edge in the order of `code`. An edge that comes from
/// outside of the counted code has no from_offset.
void write_edges_tsv(std::ostream& out, const NamedCode& code, const CountsContext& context);

}  // namespace sp::profiler
