#include <gtest/gtest.h>

#include <chrono>

#include "parsing.h"

namespace sp::cli {
namespace {

TopOptions top(const std::vector<std::string>& words) {
  const Parsed outcome = parsed(words);
  const auto* options = std::get_if<TopOptions>(&outcome);
  EXPECT_NE(options, nullptr) << words.back();
  return options == nullptr ? TopOptions{} : *options;
}

TEST(Top, samples_a_process_a_thousand_times_a_second) {
  const TopOptions options = top({"top", "-p", "7"});
  EXPECT_EQ(options.run.pids, std::vector<pid_t>{7});
  EXPECT_EQ(options.run.interval, std::chrono::milliseconds(1));
  EXPECT_EQ(options.interval, std::chrono::seconds(1));
  EXPECT_TRUE(options.run.no_instrumentation);
  EXPECT_FALSE(options.once);
}

TEST(Top, has_an_interval_of_its_own) {
  const TopOptions options = top({"top", "-i", "2", "-F", "200", "--calls", "--sort", "calls",
                                  "--once", "--wall", "--", "ls", "-l"});
  EXPECT_EQ(options.interval, std::chrono::seconds(2));
  EXPECT_EQ(options.run.interval, std::chrono::milliseconds(5));
  EXPECT_EQ(options.run.command, (std::vector<std::string>{"ls", "-l"}));
  EXPECT_FALSE(options.run.no_instrumentation);
  EXPECT_EQ(options.sort, Sort::calls);
  EXPECT_TRUE(options.once);
  EXPECT_TRUE(options.run.wall);
  EXPECT_TRUE(options.run.follow.fork);
}

}  // namespace
}  // namespace sp::cli
