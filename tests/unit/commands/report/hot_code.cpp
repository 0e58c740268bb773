#include "commands/report/hot_code.h"

#include <gtest/gtest.h>

namespace sp::report {
namespace {

TEST(HotCode, ranks_functions_by_the_instructions_that_they_executed) {
  profiler::RecordedCode code;
  code.modules = {"/m"};
  code.functions = {{0, "cold", 0x100}, {0, "hot", 0x200}, {0, "warm", 0x300}};
  code.kinds = {"exact", "exact-until:1.000"};
  code.blocks = {{0, 0, 0, 4, 1, 0x100, 1, false, 0},
                 {1, 0, 0, 4, 9, 0x200, 100, false, 0},
                 {1, 0, 0, 4, 2, 0x204, 10, true, 1},
                 {2, 0, 0, 4, 2, 0x300, 10, false, 0}};
  const auto hottest = hot_functions(nullptr, &code, 2);
  ASSERT_EQ(hottest.size(), 2U);
  EXPECT_EQ(hottest[0].function.name, "hot");
  EXPECT_EQ(hottest[0].executed, 920U);
  EXPECT_EQ(hottest[0].function.kind, "mixed");
  ASSERT_EQ(hottest[0].function.blocks.size(), 2U);
  EXPECT_EQ(hottest[0].function.blocks[1].kind, "exact-until:1.000");
  EXPECT_EQ(hottest[1].function.name, "warm");
  EXPECT_EQ(hottest[1].function.kind, "exact");
}

TEST(HotCode, joins_the_blocks_of_two_files_that_had_a_path_in_turn) {
  profiler::RecordedCode code;
  code.modules = {"/m"};
  code.functions = {{0, "f", 0x100}};
  code.kinds = {"exact"};
  code.blocks = {{0, 0, 0, 4, 1, 0x100, 1}, {0, 0, 0, 6, 1, 0x100, 2}};
  const auto hottest = hot_functions(nullptr, &code, 5);
  ASSERT_EQ(hottest.size(), 1U);
  ASSERT_EQ(hottest[0].function.blocks.size(), 1U);
  EXPECT_EQ(hottest[0].function.blocks[0].hits, 3U);
  EXPECT_EQ(hottest[0].function.blocks[0].size, 6U);
}

TEST(HotCode, of_nothing_is_nothing) { EXPECT_TRUE(hot_functions(nullptr, nullptr, 5).empty()); }

}  // namespace
}  // namespace sp::report
