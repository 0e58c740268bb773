#include <gtest/gtest.h>

#include <sstream>

#include "golden.h"
#include "profiler/formats/bolt.h"

namespace sp::profiler {
namespace {

using core::EdgeFlow;

/// main, which loops to its beginning and calls helper, whose return is a place that a branch that
/// was never taken leads to, as is 0x1018 in the middle of a counted block.
BoltCode divided(const std::string& helper = "helper/a.c/1") {
  return {{{"main", 0x1000, 0x1040, false}, {helper, 0x1040, 0x1060, true}},
          {{0x1008, 0x1006, false},
           {0x1010, 0x100b, true},
           {0x1018, 0x1015, false},
           {0x1020, 0x101d, false}}};
}

RecordedCode counted() {
  RecordedCode code;
  code.modules = {"/bin/demo", "/lib/libx.so"};
  code.files = {""};
  code.functions = {{0, "main", 0x1000}, {0, "helper", 0x1040}, {1, "outside", 0x1000}};
  code.blocks = {{0, 0, 0, 8, 3, 0x1000, 10},   {0, 0, 0, 8, 2, 0x1008, 6},
                 {0, 0, 0, 0x10, 4, 0x1010, 6}, {0, 0, 0, 0x20, 4, 0x1020, 10},
                 {1, 0, 0, 0x20, 4, 0x1040, 6}, {2, 0, 0, 0x20, 4, 0x1000, 3}};
  code.edges = {{0, 0, EdgeFlow::entry, 0, 0x1000, 1},
                {0, 0, EdgeFlow::jump, 0x103e, 0x1000, 9},
                {0, 0, EdgeFlow::fallthrough, 0x1006, 0x1008, 6},
                {0, 0, EdgeFlow::taken, 0x1006, 0x1020, 4},
                {0, 0, EdgeFlow::call, 0x100b, 0x1040, 6},
                {0, 0, EdgeFlow::ret, 0x105f, 0x1010, 6},
                {0, 0, EdgeFlow::fallthrough, 0x101d, 0x1020, 6},
                {0, 1, EdgeFlow::call, 0x1030, 0x1000, 3},
                {1, 0, EdgeFlow::ret, 0x101f, 0x1035, 3}};
  return code;
}

std::string fdata(const RecordedCode& counts, const BoltCode& code, BoltSums* sums = nullptr) {
  std::ostringstream out;
  const BoltSums written = write_bolt(out, counts, 0, code);
  if (sums != nullptr) {
    *sums = written;
  }
  return out.str();
}

TEST(Bolt, has_branches_calls_and_fallthroughs) {
  BoltSums sums;
  test::expect_golden("bolt.fdata", fdata(counted(), divided(), &sums));
  EXPECT_EQ(sums.functions, 2U);
  EXPECT_EQ(sums.branches, 9U);
  EXPECT_EQ(sums.left_out, 0U);
}

TEST(Bolt, counts_entries_from_code_that_was_not_counted) {
  RecordedCode counts = counted();
  counts.edges.erase(counts.edges.begin() + 4);  // the call of helper
  EXPECT_NE(fdata(counts, divided()).find("\n0 [unknown] 0 2 helper/a.c/1 0 0 6\n"),
            std::string::npos);
}

TEST(Bolt, escapes_blanks_and_backslashes) {
  EXPECT_NE(fdata(counted(), divided("a b\\c\n;\"\xff")).find("2 a\\ b\\\\c\\\n;\"\xff 0 0 6\n"),
            std::string::npos);
}

TEST(Bolt, leaves_out_functions_that_were_not_counted_to_the_end) {
  RecordedCode counts = counted();
  counts.edges[3].until = true;  // of main
  BoltSums sums;
  EXPECT_EQ(fdata(counts, divided(), &sums), "0 [unknown] 0 2 helper/a.c/1 0 0 6\n");
  EXPECT_EQ(sums.left_out, 1U);
  EXPECT_EQ(sums.functions, 1U);
}

TEST(Bolt, ends_a_block_before_its_nops) {
  BoltCode code = divided();
  code.leaders[3].before = 0x101a;  // 0x101d is a nop
  EXPECT_NE(fdata(counted(), code).find("1 main 1a 1 main 20 0 6\n"), std::string::npos);
  code.leaders[3].before = 0x100b;  // the block has nothing but nops
  EXPECT_EQ(fdata(counted(), code).find("main 20 0 6\n"), std::string::npos);
}

TEST(Bolt, takes_no_returns_and_no_calls_of_the_next_instruction) {
  RecordedCode counts = counted();
  counts.edges.push_back({0, 0, EdgeFlow::call, 0x1020, 0x1025, 77});
  counts.edges.push_back({0, 0, EdgeFlow::ret, 0x1020, 0x1010, 77});
  EXPECT_EQ(fdata(counts, divided()).find("77"), std::string::npos);
}

TEST(Bolt, writes_large_counts_in_full) {
  RecordedCode counts = counted();
  counts.edges[1].hits = 9'007'199'254'740'993;
  EXPECT_NE(fdata(counts, divided()).find(" 9007199254740993\n"), std::string::npos);
}

}  // namespace
}  // namespace sp::profiler
