#pragma once

#include <iosfwd>
#include <vector>

#include "profiler/counted_span.h"
#include "profiler/named_profile.h"

namespace sp::profiler {

/// Sorted by self samples, total samples and calls, the highest first, then by name and module.
/// Without the markers that are no place (has_row).
[[nodiscard]] std::vector<Function> ranked(const std::vector<Function>& functions);

/// functions.tsv: a header, then one row for each function in the order of `ranked`.
void write_functions_tsv(std::ostream& out, const std::vector<Function>& ranked,
                         const CountsContext& context);

}  // namespace sp::profiler
