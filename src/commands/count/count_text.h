#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands/count/call_profile.h"
#include "core/call_query.h"
#include "core/clock.h"
#include "symbols/inlined_copies.h"

namespace sp::count {

/// How tables are shown.
struct TableStyle {
  core::CallQuery query;
  std::uint64_t limit = 20;   // groups of a function; 0: all
  core::TimePoint started{};  // of the run
  std::size_t columns = 0;    // 0: any
};

/// "arg1", "ret", or the name of the parameter.
[[nodiscard]] std::string value_name(const core::CallValue& value);

/// A line for each function with calls, or for all if they are few, below it its groups and their
/// histograms. Each line ends with a newline.
[[nodiscard]] std::string table_text(const Table& table, const TableStyle& style);

/// The same as one JSON document on one line. Numbers are as exact as JavaScript's.
[[nodiscard]] std::string table_json(const Table& table, const TableStyle& style, double at);

/// "in FILE 2 functions are inlined: f in 3 places, g in 1: calls there are not counted"; of many
/// functions those with most. "" if none is.
[[nodiscard]] std::string inlined_note(const symbols::InlinedCopies& found,
                                       const std::string& path);

}  // namespace sp::count
