#pragma once

#include <cstddef>
#include <string>

#include "commands/top/live_profile.h"
#include "core/clock.h"
#include "core/run_facts.h"

namespace sp::top {

/// What is shown above a table.
struct Heading {
  std::string command;
  core::RunFacts facts;         // of the run so far
  core::Duration target_cpu{};  // of the target, in the table's interval
  bool wall = false;
  bool counts_calls = false;
};

/// At most `lines` lines of at most `columns` columns, each with a newline: what ran and how it was
/// seen, the cost, the functions.
[[nodiscard]] std::string table_text(const Heading& heading, const Table& table, std::size_t lines,
                                     std::size_t columns);

}  // namespace sp::top
