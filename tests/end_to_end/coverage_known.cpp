// --coverage-known: what an earlier run has reached needs no stop.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "end_to_end/coverage_support.h"

namespace sp::end_to_end {
namespace {

/// A second run of the same program, which is told what the first has reached.
void expect_no_stops(const Words& program, const Words& options) {
  const TempDir directory;
  Words words{"--coverage"};
  words.insert(words.end(), options.begin(), options.end());
  const auto first = profile(directory, words, program);
  words.insert(words.end(), {"--coverage-known", directory / "run"});
  const TempDir again;
  const auto second = profile(again, words, program);
  EXPECT_EQ(second.outcome.wait_status, first.outcome.wait_status) << second.outcome.text();
  EXPECT_EQ(second.outcome.out, first.outcome.out);
  EXPECT_EQ(second.files.run().at("probes").at("hits"), 0U) << program[0];
  const auto before = covered_blocks(directory / "run/coverage.tsv");
  const auto after = covered_blocks(again / "run/coverage.tsv");
  EXPECT_GT(reached(before), 10U);
  EXPECT_EQ(reached(before), reached(after)) << program[0];
  for (const CoveredBlock& block : after) {
    EXPECT_TRUE(!block.covered || block.kind == "known")
        << program[0] << " " << block.function << " " << std::hex << block.offset;
  }
}

TEST(CoverageKnown, needs_no_stop_where_indirect_jumps_lead) {
  expect_no_stops({target("switches")}, {});
  expect_no_stops({target("unbounded_switch")}, {});
  expect_no_stops({target("code_ways")}, {});
  expect_no_stops({target("cold_ways")}, {});
}

TEST(CoverageKnown, needs_no_stop_in_children) {
  expect_no_stops({target("fork_tree"), "2"}, {"--follow", "all"});
  expect_no_stops({"/bin/sh", "-c", "for i in 1 2 3; do x=$(echo $i); (exit 3); done; echo $x"},
                  {"--follow", "all"});
}

}  // namespace
}  // namespace sp::end_to_end
