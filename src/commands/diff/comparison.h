#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "commands/diff/run_numbers.h"

namespace sp::diff {

using Metric = cli::DiffRule::Metric;
constexpr std::array kMetrics = {Metric::self, Metric::total, Metric::calls, Metric::executions,
                                 Metric::instructions};
[[nodiscard]] std::string_view name_of(Metric metric);
/// Sampled, in nanoseconds; other metrics are counts.
[[nodiscard]] constexpr bool is_time(Metric metric) {
  return metric == Metric::self || metric == Metric::total;
}

/// One metric of a function, or of a whole run, on both sides: of several runs the median of
/// counts, the mean of times.
struct Pair {
  enum class State : std::uint8_t {
    absent,        // no run has it
    incomparable,  // not all have it, or not over the same time
    compared,
  };

  Metric metric = Metric::self;
  State state = State::absent;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::string kind{};    // "exact", "exact-since:0.000", "sampled"
  bool varies = false;   // a count that is not the same in all runs of a side
  bool certain = false;  // it differs, and not by chance
  bool changed = false;  // the same, and not by too little to be shown
  double p = 1;          // of a time: that it differs by chance, for the whole table

  /// after - before, in percent of before; infinite if before is 0.
  [[nodiscard]] double percent() const;
  [[nodiscard]] double delta() const;
};

struct ComparedFunction {
  FunctionKey key;                            // as in B, if that has it
  std::array<Pair, kMetrics.size()> pairs{};  // in the order of kMetrics

  [[nodiscard]] bool changed() const;
};

struct Comparison {
  std::vector<ComparedFunction> functions;  // those that differ most first
  std::array<Pair, kMetrics.size()> whole;  // of the runs; self is absent
  std::uint64_t incomparable = 0;           // functions with a count that cannot be compared
  bool same_runs = false;                   // a run with itself
  bool sampled = false;                     // all runs were
  bool counted = false;
};

/// `before` and `after` have at least one run each.
[[nodiscard]] Comparison compare(const std::vector<RunNumbers>& before,
                                 const std::vector<RunNumbers>& after);

}  // namespace sp::diff
