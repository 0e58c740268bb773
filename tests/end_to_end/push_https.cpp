// --push over https: whose certificate is believed; and that Go's pprof reads what is pushed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

/// What libcurl trusts on Debian, if nobody tells it otherwise.
constexpr const char* kTrusted = "/etc/ssl/certs/ca-certificates.crt";

/// A program that works for half a second and says so.
Words busy() {
  return {"/bin/sh", "-c",
          "end=$(($(date +%s%N) + 500000000)); while [ $(date +%s%N) -lt $end ]; do "
          "i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done; done; echo ran; exit 7"};
}

/// Keeps what is posted to it in DIR/posts.
class Server {
 public:
  /// With the certificate DIR/certificate if `is_secret`.
  Server(const TempDir& directory, bool is_secret)
      : scheme_(is_secret ? "https" : "http"), posts_(directory / "posts") {
    std::filesystem::create_directory(posts_);
    Words words{"python3", SP_SOURCE_DIR "/tests/end_to_end/keeping_server.py", posts_};
    if (is_secret) {
      words.insert(words.end(), {directory / "certificate", directory / "key"});
    }
    server_.emplace(words);
    EXPECT_TRUE(server_->says("\n"));
    port_ = server_->out().substr(5, server_->out().find('\n') - 5);
  }
  [[nodiscard]] std::string url() const { return scheme_ + "://127.0.0.1:" + port_; }
  /// The files that it has got.
  [[nodiscard]] Words posts() const {
    Words posts;
    for (const auto& entry : std::filesystem::directory_iterator(posts_)) {
      posts.push_back(entry.path());
    }
    return posts;
  }

 private:
  std::string scheme_;
  std::string posts_;
  std::optional<Running> server_;
  std::string port_;
};

/// Makes DIR/certificate and DIR/key, for a server with that name or address.
bool make_certificate(const TempDir& directory, const std::string& name) {
  return has_program("openssl") && has_program("python3") &&
         run({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
              "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-keyout", directory / "key",
              "-out", directory / "certificate", "-subj", "/CN=superprofiler", "-addext",
              "subjectAltName=" + name})
                 .exit_status() == 0;
}

/// Runs superprofiler where that certificate is the only one that is trusted. Nothing: not possible
/// here.
std::optional<Outcome> run_trusting(const std::string& certificate, const Words& command) {
  const Words mount{"unshare", "-m", "mount", "--bind", certificate, kTrusted};
  if (!has_program("unshare") || run(mount).exit_status() != 0) {
    return std::nullopt;
  }
  Words words{"unshare",   "-m",    "sh", "-c", R"(mount --bind "$0" "$1" && shift && exec "$@")",
              certificate, kTrusted};
  words.insert(words.end(), command.begin(), command.end());
  return run(words);
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(PushOverHttps, gives_nothing_to_a_server_that_nobody_vouches_for) {
  const TempDir directory;
  if (!make_certificate(directory, "IP:127.0.0.1")) {
    GTEST_SKIP() << "needs python3 and openssl";
  }
  const Server server(directory, true);
  const auto run = profile(directory, {"-n", "--push", server.url(), "--push-every", "1s"}, busy());
  EXPECT_EQ(run.outcome.exit_status(), 7) << run.outcome.text();
  EXPECT_EQ(run.outcome.out, "ran\n");
  EXPECT_EQ(times(run.outcome.err, server.url() + " takes no profile: "), 1U) << run.outcome.err;
  EXPECT_NE(run.outcome.err.find("certificate"), std::string::npos) << run.outcome.err;
  EXPECT_EQ(times(run.outcome.err, "the server has not got everything"), 1U) << run.outcome.err;
  EXPECT_TRUE(server.posts().empty());
  EXPECT_GT(run.files.samples(), 0U);
}

TEST(PushOverHttps, goes_to_a_server_that_is_vouched_for_under_its_own_name_alone) {
  for (const char* const name : {"IP:127.0.0.1", "DNS:another.example"}) {
    const TempDir directory;
    if (!make_certificate(directory, name)) {
      GTEST_SKIP() << "needs python3 and openssl";
    }
    const bool is_its_own = std::string(name) == "IP:127.0.0.1";
    const Server server(directory, true);
    const auto outcome = run_trusting(
        directory / "certificate",
        superprofiler(directory, {"-n", "--push", server.url(), "--push-every", "1s"}, busy()));
    if (!outcome) {
      GTEST_SKIP() << "no right to mount a file over " << kTrusted << " here";
    }
    EXPECT_EQ(outcome->exit_status(), 7) << outcome->text();
    EXPECT_EQ(outcome->out, "ran\n");
    EXPECT_EQ(times(outcome->err, "takes no profile"), is_its_own ? 0U : 1U) << outcome->err;
    EXPECT_EQ(server.posts().empty(), !is_its_own) << name << outcome->err;
  }
}

/// The sum of the first value of all samples in `go tool pprof -raw`, whose lines are
/// "Samples:", the types, and a sample each: "  12  3400: 1 2 3".
std::uint64_t samples_in(const std::string& raw) {
  std::istringstream lines(raw.substr(std::min(raw.find("Samples:\n"), raw.size())));
  std::uint64_t sum = 0;
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  EXPECT_EQ(line, "samples/count cpu/nanoseconds[dflt]");
  while (std::getline(lines, line) && line != "Locations") {
    std::istringstream words(line);
    std::uint64_t value = 0;
    sum += words >> value ? value : 0;
  }
  return sum;
}

TEST(Push, is_read_by_go_tool_pprof) {
  if (!has_program("go") || !has_program("python3")) {
    GTEST_SKIP() << "needs go and python3";
  }
  const TempDir directory;
  const Server server(directory, false);
  const auto pushed =
      profile(directory, {"-n", "--push", server.url(), "--push-every", "1s"}, busy());
  EXPECT_EQ(pushed.outcome.exit_status(), 7) << pushed.outcome.text();
  std::uint64_t samples = 0;
  ASSERT_FALSE(server.posts().empty()) << pushed.outcome.text();
  for (const std::string& post : server.posts()) {
    const Outcome raw = run({"go", "tool", "pprof", "-raw", post});
    EXPECT_EQ(raw.exit_status(), 0) << raw.err;
    EXPECT_NE(raw.out.find("\nMappings\n"), std::string::npos) << raw.out;
    samples += samples_in(raw.out);
  }
  EXPECT_EQ(samples, pushed.files.samples()) << pushed.outcome.text();
}

}  // namespace
}  // namespace sp::end_to_end
