#include <gtest/gtest.h>

#include "unit/cli/parsing.h"

namespace sp::cli {
namespace {

using namespace std::chrono_literals;

TEST(PushOptions, name_a_server) {
  EXPECT_FALSE(record({"--", "prog"}).push);
  const RecordOptions plain = record({"--push", "http://localhost:4040", "--", "prog"});
  ASSERT_TRUE(plain.push);
  EXPECT_EQ(plain.push->url, "http://localhost:4040");
  EXPECT_EQ(plain.push->every, 10s);
  EXPECT_EQ(plain.push->token, "");
  const RecordOptions full = record({"--push", "https://host/a/ingest", "--push-every", "1m",
                                     "--label", "a=b", "--label", "name=x", "-p", "7"});
  ASSERT_TRUE(full.push);
  EXPECT_EQ(full.push->every, 60s);
  EXPECT_EQ(full.push->labels, (std::vector<std::string>{"a=b", "name=x"}));
  EXPECT_TRUE(record({"--tree", "--push", "http://h", "--label", "a=b", "--", "prog"}).tree);
}

TEST(PushOptions, refuse_what_is_no_address) {
  for (const char* url : {"localhost:4040", "ftp://h", "http://", "http:///x", "http://:80",
                          "http://a b", "http://h\n", "https://"}) {
    EXPECT_NE(usage_error({"--push", url, "--", "prog"}).find("--push: "), std::string::npos)
        << url;
  }
  EXPECT_NE(usage_error({"--push", "http://u:p@h", "--", "prog"}).find("SUPERPROFILER_PUSH_TOKEN"),
            std::string::npos);
  EXPECT_NE(usage_error({"--push", "http://h/ingest?name=x", "--", "prog"}).find("no query"),
            std::string::npos);
}

TEST(PushOptions, refuse_what_does_not_go_together) {
  EXPECT_NE(usage_error({"--push-every", "5s", "--", "prog"}).find("add --push"),
            std::string::npos);
  EXPECT_NE(usage_error({"--push", "http://h", "-s", "--", "prog"}).find("takes none"),
            std::string::npos);
  EXPECT_NE(usage_error({"--push", "http://h", "--push-every", "10ms", "--", "prog"})
                .find("shortest period is 1s"),
            std::string::npos);
  EXPECT_NE(usage_error({"--push", "http://h", "--label", "x", "--", "prog"}).find("NAME=VALUE"),
            std::string::npos);
}

}  // namespace
}  // namespace sp::cli
