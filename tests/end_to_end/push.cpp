// --push: the samples of a run to a server, as they come.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

using nlohmann::json;

/// A program that works for that many milliseconds.
Words busy(const std::string& time) {
  return {"/bin/sh", "-c",
          "end=$(($(date +%s%N) + " + time +
              "000000)); "
              "while [ $(date +%s%N) -lt $end ]; do "
              "i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done; done; "
              "echo ${SUPERPROFILER_PUSH_TOKEN-none}"};
}

class Server {
 public:
  explicit Server(int refusals = 0)
      : server_({"python3", SP_SOURCE_DIR "/tests/end_to_end/push_server.py",
                 std::to_string(refusals)}) {
    EXPECT_TRUE(server_.says("\n"));
    port_ = server_.out().substr(5, server_.out().find('\n') - 5);
  }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + port_; }
  [[nodiscard]] std::vector<json> posts() const {
    std::vector<json> posts;
    std::istringstream lines(server_.out());
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      posts.push_back(json::parse(line, nullptr, false));
    }
    return posts;
  }
  [[nodiscard]] std::uint64_t samples() const {
    std::uint64_t sum = 0;
    for (const json& post : posts()) {
      sum += post.value("samples", 0U);
    }
    return sum;
  }

 private:
  Running server_;
  std::string port_;
};

bool can_push() {
  const TempDir directory;
  const Outcome tried =
      run({SP_PROGRAM, "-n", "-o", directory.path(), "--push", "http://127.0.0.1:1", "--", "true"});
  return tried.err.find("built without libcurl") == std::string::npos;
}

bool cannot_run() { return !has_program("python3") || !can_push(); }

TEST(Push, sums_are_those_of_the_run) {
  if (cannot_run()) {
    GTEST_SKIP() << "needs python3 and libcurl";
  }
  const Server server;
  const TempDir directory;
  StartOptions start;
  start.environment = {"SUPERPROFILER_PUSH_TOKEN=secret"};
  const auto run = profile(directory,
                           {"-n", "--push", server.url(), "--push-every", "1s", "--label",
                            "name=shop", "--label", "commit=a b"},
                           busy("1500"), start);
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.outcome.out, "none\n") << "the target has no business with the token";
  const auto posts = server.posts();
  ASSERT_GE(posts.size(), 2U) << run.outcome.text();
  EXPECT_EQ(server.samples(), run.files.samples()) << run.outcome.text();
  std::int64_t until = 0;
  for (const json& post : posts) {
    EXPECT_EQ(post["path"], "/ingest");
    EXPECT_EQ(post["query"]["name"], "shop{commit=a b}");
    EXPECT_EQ(post["query"]["format"], "pprof");
    EXPECT_EQ(post["token"], "Bearer secret");
    EXPECT_EQ(post["types"], json({"samples", "cpu"}));
    const std::int64_t from = std::stoll(post["query"]["from"].get<std::string>());
    EXPECT_GE(from + 1, until);
    until = std::stoll(post["query"]["until"].get<std::string>());
    EXPECT_GT(until, from);
  }
  EXPECT_FALSE(posts[0]["functions"].empty());
}

TEST(Push, loses_nothing_to_a_server_that_refuses_at_first) {
  if (cannot_run()) {
    GTEST_SKIP() << "needs python3 and libcurl";
  }
  const Server server(1);
  const TempDir directory;
  const auto run =
      profile(directory, {"-n", "--push", server.url(), "--push-every", "1s"}, busy("1200"));
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(server.samples(), run.files.samples()) << run.outcome.text();
  const std::string said = "takes no profile: it answers 503";
  const auto at = run.outcome.err.find(said);
  EXPECT_NE(at, std::string::npos) << run.outcome.err;
  EXPECT_EQ(run.outcome.err.find(said, at + 1), std::string::npos) << "once";
}

TEST(Push, goes_on_where_nobody_listens) {
  if (!can_push()) {
    GTEST_SKIP() << "needs libcurl";
  }
  const TempDir directory;
  const auto run = profile(directory, {"-n", "--push", "http://127.0.0.1:1"}, busy("200"));
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_NE(run.outcome.err.find("--push: http://127.0.0.1:1 takes no profile: "),
            std::string::npos)
      << run.outcome.err;
  EXPECT_NE(run.outcome.err.find("has not got everything"), std::string::npos);
  EXPECT_GT(run.files.samples(), 0U);
}

TEST(Push, is_refused_before_anything_is_started) {
  const TempDir directory;
  for (const char* url : {"", "localhost:4040", "http://user:pw@host/"}) {
    const Outcome outcome = run(superprofiler(directory, {"--push", url}, {"/bin/echo", "ran"}));
    EXPECT_EQ(outcome.exit_status(), 2) << url << outcome.text();
    EXPECT_EQ(outcome.out, "") << url;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

}  // namespace
}  // namespace sp::end_to_end
