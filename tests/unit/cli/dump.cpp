#include <gtest/gtest.h>

#include "parsing.h"

namespace sp::cli {
namespace {

TEST(Dump, takes_processes) {
  const Parsed outcome = parsed({"dump", "-p", "7,9", "-p", "8", "--json", "--debug-dir", "/d"});
  const auto* options = std::get_if<DumpOptions>(&outcome);
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->pids, (std::vector<pid_t>{7, 9, 8}));
  EXPECT_TRUE(options->json);
  EXPECT_EQ(options->debug_dirs, std::vector<std::string>{"/d"});
}

TEST(Dump, explains_itself) {
  EXPECT_TRUE(printed({"dump", "--help"}).starts_with("superprofiler dump -p PID"));
}

}  // namespace
}  // namespace sp::cli
