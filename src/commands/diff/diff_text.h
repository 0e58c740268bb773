#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "commands/diff/comparison.h"
#include "commands/diff/run_numbers.h"

namespace sp::diff {

/// "1,234" or "1.23 ms".
[[nodiscard]] std::string value_text(const Pair& pair, std::uint64_t value);
/// "+10.0 %", "-33.3 %"; "new" if it was 0, "gone" if it is.
[[nodiscard]] std::string change_text(const Pair& pair);
/// A function's name on one line, cut if it is long.
[[nodiscard]] std::string shown_name(std::string_view name);

struct Shown {
  const std::vector<RunNumbers>& before;
  const std::vector<RunNumbers>& after;
  const Comparison& comparison;
  std::uint64_t limit = 0;  // functions; 0: all
};

/// Columns for people: what the runs are, how they differ as a whole, the functions that differ.
void write_text(std::ostream& out, const Shown& shown);
void write_json(std::ostream& out, const Shown& shown, const std::vector<std::string>& broken);

}  // namespace sp::diff
