#pragma once

#include <chrono>
#include <iosfwd>
#include <span>
#include <string>

#include "profiler/formats/symbols_tsv.h"

namespace sp::profiler {

/// Whose run learned.toml comes of.
struct LearnedRun {
  std::string command;  // on one line
  std::chrono::system_clock::time_point at;
};

/// A filters file of the rows that are `learned`, now or by a rule of an earlier run: a [[block]]
/// for each name of a module. What no rule can name stands there as a comment.
void write_learned(std::ostream& out, std::span<const SymbolRow> rows, const LearnedRun& run);

}  // namespace sp::profiler
