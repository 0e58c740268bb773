#include <gtest/gtest.h>

#include "unit/cli/parsing.h"

namespace sp::cli {
namespace {

TEST(SplitOptions, are_a_time_or_a_size) {
  EXPECT_FALSE(record({"--", "prog"}).split);
  const RecordOptions timed = record({"--split", "1h", "--split-keep", "24", "-p", "7"});
  EXPECT_EQ(timed.split->every, std::chrono::hours(1));
  EXPECT_EQ(timed.split->bytes, 0U);
  EXPECT_EQ(timed.split->keep, 24U);
  const RecordOptions sized = record({"--split", "1.5GB", "--trace", "--", "prog"});
  EXPECT_EQ(sized.split->every, Duration{});
  EXPECT_EQ(sized.split->bytes, 1'500'000'000U);
  EXPECT_EQ(sized.split->keep, 0U);
  EXPECT_EQ(record({"-s", "--split", "90s", "--", "prog"}).split->every, std::chrono::seconds(90));
}

TEST(SplitOptions, say_what_is_wrong) {
  const auto says = [](const std::vector<std::string>& options, const char* text) {
    std::vector<std::string> words = options;
    words.insert(words.end(), {"--", "prog"});
    EXPECT_NE(usage_error(words).find(text), std::string::npos) << usage_error(words);
  };
  says({"--split", "10"}, "'10' is neither a time nor a size; write one with its unit");
  says({"--split", "often"}, "'often' is neither");
  says({"--split", "10parsec"}, "--split");
  says({"--split", "10ms"}, "the shortest part is 1s");
  says({"--split", "1kB"}, "the smallest size is 100000 bytes");
  says({"--split", "1h", "--split-keep", "0"}, "--split-keep");
  says({"--split-keep", "3"}, "add --split");
  says({"--split", "1h", "--coverage"}, "leave out --coverage");
  says({"--split", "1h", "--tree"}, "leave out --tree");
  says({"--split", "1GB", "-s"}, "give a time");
}

}  // namespace
}  // namespace sp::cli
