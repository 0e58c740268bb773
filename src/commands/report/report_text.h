#pragma once

#include <iosfwd>
#include <string>

#include "commands/report/tables.h"

namespace sp::report {

/// What a table is of.
struct Title {
  std::string run;       // its command
  std::string sampling;  // "sampled, on-CPU, 4,218 samples"
  std::string rows;      // "functions", "modules", "callers of f", "callees of f"
  std::string counts;    // "exact", "mixed"; "" if nothing was counted
  bool has_self = true;
  bool has_modules = true;
};

/// Columns for people: a line that says what the numbers are, the headings, the rows.
void write_text(std::ostream& out, const Title& title, const Table& table);
void write_json(std::ostream& out, const Title& title, const Table& table);

}  // namespace sp::report
