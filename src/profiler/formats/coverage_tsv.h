#pragma once

#include <iosfwd>
#include <optional>
#include <string_view>

#include "core/instruction.h"
#include "profiler/coverage.h"

namespace sp::profiler {

/// coverage.tsv: a row for each block; output/README.md describes the columns.
void write_coverage_tsv(std::ostream& out, const CoverageTable& table);

/// In the column `ends` of a row that stands for a whole function.
constexpr std::string_view kFunction = "function";
/// How a block ends, in its column `ends`. Nothing for a word that is none of them.
[[nodiscard]] std::string_view word_of(core::Flow flow);
[[nodiscard]] std::optional<core::Flow> flow_of(std::string_view word);

}  // namespace sp::profiler
