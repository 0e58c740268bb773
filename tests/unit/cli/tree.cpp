#include <gtest/gtest.h>

#include "unit/cli/parsing.h"

namespace sp::cli {
namespace {

using namespace std::chrono_literals;

TEST(TreeOptions, are_off_unless_given) {
  EXPECT_FALSE(record({"--", "prog"}).tree);
  const RecordOptions options = record({"--tree", "--filters", "f.toml", "--", "prog"});
  ASSERT_TRUE(options.tree);
  EXPECT_FALSE(options.tree->emit);
  EXPECT_FALSE(options.trace);
  EXPECT_TRUE(options.sees_calls());
  EXPECT_EQ(options.filters, std::vector<std::string>{"f.toml"});
}

TEST(TreeOptions, name_a_reader_and_what_it_gets) {
  const RecordOptions plain = record({"--tree", "--emit", "unix:/run/reader", "--", "prog"});
  ASSERT_TRUE(plain.tree && plain.tree->emit);
  EXPECT_EQ(plain.tree->emit->path, "/run/reader");
  EXPECT_EQ(plain.tree->emit->every, 1s);
  EXPECT_TRUE(plain.tree->emit->has_names);
  EXPECT_EQ(plain.tree->emit->budget_bytes, 0U);
  const RecordOptions full =
      record({"--tree", "--emit=fd:7", "--emit-every", "10ms", "--emit-addresses", "--emit-budget",
              "2.5MB/day", "--label", "a=b", "--label", "c=", "-p", "7"});
  ASSERT_TRUE(full.tree && full.tree->emit);
  EXPECT_EQ(full.tree->emit->fd, 7);
  EXPECT_EQ(full.tree->emit->path, "");
  EXPECT_EQ(full.tree->emit->every, 10ms);
  EXPECT_FALSE(full.tree->emit->has_names);
  EXPECT_EQ(full.tree->emit->budget_bytes, 2'500'000U);
  EXPECT_EQ(full.tree->emit->budget_time, 24h);
  EXPECT_EQ(full.tree->emit->labels, (std::vector<std::string>{"a=b", "c="}));
  EXPECT_EQ(record({"--tree", "--emit=fd:7", "--emit-budget", "64KiB/min", "--", "prog"})
                .tree->emit->budget_bytes,
            65'536U);
}

TEST(TreeOptions, refuse_what_does_not_go_together) {
  for (const char* rival : {"--trace", "-n", "-s", "--coverage"}) {
    EXPECT_NE(usage_error({"--tree", rival, "--", "prog"}).find("exclude each other"),
              std::string::npos)
        << rival;
  }
  EXPECT_NE(usage_error({"--emit", "fd:1", "--", "prog"}).find("add --tree"), std::string::npos);
  EXPECT_NE(usage_error({"--tree", "--label", "a=b", "--", "prog"}).find("add --emit"),
            std::string::npos);
}

TEST(TreeOptions, refuse_bad_values) {
  const auto refuses = [](const std::vector<std::string>& words, const std::string& text) {
    std::vector<std::string> all{"--tree", "--emit", "fd:1"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"--", "prog"});
    const std::string error = usage_error(all);
    EXPECT_NE(error.find(text), std::string::npos) << error;
  };
  refuses({"--emit", "reader"}, "neither unix:PATH");
  refuses({"--emit", "unix:"}, "neither unix:PATH");
  refuses({"--emit", "fd:-1"}, "from 0");
  refuses({"--emit", "unix:/" + std::string(107, 'x')}, "107 bytes, this one 108");
  refuses({"--emit-every", "9ms"}, "10ms");
  refuses({"--label", "commit"}, "commit=abc");
  refuses({"--label", "=x"}, "commit=abc");
  for (const char* budget : {"10MB", "10MB/", "MB/day", "10/day", "10XB/day", "-1MB/day",
                             "10MB/year", "0MB/day", "nanMB/day", "infMB/day"}) {
    refuses({"--emit-budget", budget}, "10MB/day (");
  }
}

}  // namespace
}  // namespace sp::cli
