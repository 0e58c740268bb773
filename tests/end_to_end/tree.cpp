// --tree: exact calls in their contexts, and --emit: what is new of them to a reader.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "arch/native.h"
#include "core/fd.h"
#include "end_to_end/emit_reader.h"
#include "end_to_end/profiled.h"
#include "end_to_end/support.h"
#include "end_to_end/trace_client.h"

namespace sp::end_to_end {
namespace {

using nlohmann::json;

/// A number of tree.json; large ones are strings.
std::uint64_t number(const json& value) {
  return value.is_string() ? std::stoull(value.get<std::string>()) : value.get<std::uint64_t>();
}

std::uint64_t sum(const json& node, const char* key) {
  std::uint64_t all = node.contains(key) ? number(node[key]) : 0;
  for (const json& callee : node.value("callees", json::array())) {
    all += sum(callee, key);
  }
  return all;
}

std::uint64_t calls_of(const json& node, const std::string& name) {
  std::uint64_t all =
      node.value("name", "") == name && node.contains("nCalls") ? number(node["nCalls"]) : 0;
  for (const json& callee : node.value("callees", json::array())) {
    all += calls_of(callee, name);
  }
  return all;
}

/// The node with calls that a path of names from the root leads to; an empty one if there is none.
json node_at(const json& root, const std::vector<std::string>& names) {
  json node = root;
  for (const std::string& name : names) {
    json found = json::object();
    for (const json& callee : node.value("callees", json::array())) {
      if (callee.value("name", "") == name && callee.contains("nCalls")) {
        found = callee;
      }
    }
    node = found;
  }
  return node;
}

/// The first node of that name, in preorder.
json child_of(const json& node, const std::string& name) {
  for (const json& callee : node.value("callees", json::array())) {
    json found = callee.value("name", "") == name ? callee : child_of(callee, name);
    if (!found.empty()) {
      return found;
    }
  }
  return json::object();
}

json tree_in(const std::string& directory) {
  return json::parse(read_file(directory + "/tree.json"), nullptr, false);
}

std::uint64_t all_calls(const RunFiles& files) {
  std::uint64_t calls = 0;
  for (const FunctionRow& row : files.functions()) {
    calls += row.calls;
  }
  return calls;
}

TEST(Tree, has_the_calls_of_a_trace) {
  const std::vector<Words> ways = {{"fib", "9"}, {"throw"},     {"longjmp"},
                                   {"tails"},    {"deep", "9"}, {"threads", "40"}};
  for (const Words& way : ways) {
    Words program{target("trace_ways")};
    program.insert(program.end(), way.begin(), way.end());
    const TempDir treed;
    const TempDir traced;
    const auto tree = profile(treed, {"--tree", "-a"}, program);
    const auto trace = profile(traced, {"--trace", "-a"}, program);
    ASSERT_EQ(tree.outcome.exit_status(), 0) << tree.outcome.text();
    const json file = tree_in(treed / "run");
    ASSERT_TRUE(file.is_object()) << way[0];
    EXPECT_EQ(sum(file["tree"], "nCalls"), number(file["calls"]["total"])) << way[0];
    EXPECT_EQ(sum(file["tree"], "nCalls"), all_calls(tree.files)) << way[0];
    EXPECT_EQ(sum(file["tree"], "nCalls"), all_calls(trace.files)) << way[0];
    EXPECT_EQ(calls_of(file["tree"], "leaf"), trace.files.calls_of("leaf")) << way[0];
    EXPECT_EQ(file["calls"]["kind"], "exact");
    EXPECT_EQ(sum(file["tree"], "self"), tree.files.samples()) << way[0];
    EXPECT_EQ(number(file["samples"]["total"]), tree.files.samples());
  }
}

TEST(Tree, has_a_context_for_each_way_to_a_function) {
  const TempDir directory;
  const auto run = profile(directory, {"--tree", "-a"}, {target("trace_ways"), "throw"});
  const json root = tree_in(directory / "run")["tree"];
  const json throws = node_at(root, {"_start", "main", "catches", "cleans", "passes", "throws"});
  ASSERT_TRUE(throws.contains("nCalls")) << run.outcome.text();
  EXPECT_EQ(throws["nCalls"], 1);
  EXPECT_EQ(calls_of(throws, "leaf"), 1U);
  EXPECT_FALSE(node_at(root, {"_start"}).contains("callSiteAddress"));
  EXPECT_GT(number(throws["callSiteAddress"]), 0U);
}

TEST(Tree, parts_threads_on_request) {
  const TempDir directory;
  const auto run =
      profile(directory, {"--tree", "-a", "--by-thread"}, {target("trace_ways"), "threads", "20"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  const json file = tree_in(directory / "run");
  std::size_t threads = 0;
  for (const json& thread : file["tree"]["callees"]) {
    EXPECT_TRUE(thread.contains("thread"));
    threads += calls_of(thread, "calls_much") == 1 ? 1U : 0U;
    EXPECT_EQ(calls_of(thread, "leaf"), calls_of(thread, "calls_much") == 1    ? 20U
                                        : calls_of(thread, "ends_thread") == 1 ? 1U
                                                                               : 0U);
  }
  EXPECT_EQ(threads, 3U);
}

TEST(Tree, attaches_and_leaves_nothing) {
  Running server({target("trace_ways"), "loop", "12"});
  ASSERT_TRUE(server.says("ready"));
  const TempDir directory;
  Running profiler(superprofiler(directory, {"--tree", "-p", std::to_string(server.pid())}));
  ASSERT_TRUE(eventually([&] {
    server.write_input("x");
    return changed_text(server.pid()) != "" || profiler.ended();
  }));
  EXPECT_TRUE(eventually([&] {
    server.write_input("x");
    profiler.signal(SIGUSR1);  // writes a snapshot
    const json snapshot = tree_in(directory / "run");
    return snapshot.is_object() && calls_of(snapshot["tree"], "fib") > 0;
  }));
  profiler.signal(SIGINT);
  const Outcome outcome = profiler.wait();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(what_was_left_behind(server.pid()), "");
  EXPECT_EQ(changed_text(server.pid()), "");
  const json file = tree_in(directory / "run");
  EXPECT_GT(calls_of(file["tree"], "fib"), 0U);
  // It was called by a frame that was open at the attach.
  EXPECT_EQ(calls_of(child_of(file["tree"], "main"), "fib"), calls_of(file["tree"], "fib"));
  EXPECT_EQ(sum(file["tree"], "nCalls"), number(file["calls"]["total"]));
}

class EmitToReader : public testing::TestWithParam<std::string> {};

TEST_P(EmitToReader, deltas_add_up_to_the_tree) {
  if (!has_program("python3")) {
    GTEST_SKIP() << "needs python3";
  }
  const TempDir directory;
  EmitReader reader(directory, GetParam());
  // By breakpoints the program takes its time.
  const bool is_copied = GetParam() == "all" && arch::Native::kHasCounterSegment;
  const char* const calls = is_copied ? "200000" : GetParam() == "pulls" ? "9000" : "4000";
  const auto run = profile(
      directory,
      {"--tree", "-a", "--via", is_copied ? "auto" : "int3", "--emit",
       "unix:" + (directory / "socket"), "--emit-every", GetParam() == "pulls" ? "1h" : "50ms"},
      {target("trace_ways"), "threads", calls});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  const json sums = reader.sums();
  ASSERT_TRUE(sums.is_object()) << run.outcome.text();
  const json file = tree_in(directory / "run");
  EXPECT_EQ(sums["nCalls"], file["calls"]["total"]) << run.outcome.text();
  EXPECT_EQ(sums["self"], file["samples"]["total"]);
  const std::vector<json> lines = reader.lines();
  EXPECT_EQ(lines.front()["type"], "hello");
  EXPECT_GE(count(lines, "profile"), 2U);
  EXPECT_EQ(count(lines, "event"), 1U);
  EXPECT_EQ(lines.back()["data"], json({{"exit", 0}}));
  if (GetParam() == "pulls") {
    EXPECT_GE(sums["profiles"], 42);
    EXPECT_LE(sums["profiles"], 43);  // and the last one
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, EmitToReader,
                         testing::Values("all", "pause", "dies", "bytewise", "pulls"),
                         [](const auto& way) { return way.param; });

TEST(Emit, sends_what_is_new_when_a_client_of_control_asks) {
  if (!has_program("python3")) {
    GTEST_SKIP() << "needs python3";
  }
  const TempDir directory;
  EmitReader reader(directory, "all");
  Running program({target("switched_calls"), "0"});
  ASSERT_TRUE(program.says("ready"));
  Running tracer(superprofiler(
      directory, {"--tree", "-a", "--emit", "unix:" + (directory / "socket"), "--emit-every", "1h",
                  "--control", directory / "control", "-p", std::to_string(program.pid())}));
  const Client client = client_of(directory / "control");
  EXPECT_TRUE(eventually([&] {
    program.write_input("q");
    EXPECT_EQ(client.tell("emit")["ok"], true);
    return read_file(reader.path()).find("handle_request") != std::string::npos;
  }));
  EXPECT_EQ(client.tell("stop")["ok"], true);
  EXPECT_EQ(tracer.wait().exit_status(), 0);
  program.close_input();
  EXPECT_EQ(program.wait().exit_status(), 0);
}

TEST(Emit, lines_are_those_of_the_schema) {
  if (!can_check_schema()) {
    GTEST_SKIP() << "needs python3-jsonschema";
  }
  const TempDir directory;
  EmitReader reader(directory, "all");
  const auto run_of =
      profile(directory,
              {"--tree", "-a", "--by-thread", "--emit", "unix:" + (directory / "socket"),
               "--emit-every", "100ms", "--label", "commit=abc", "--emit-budget", "1GB/day"},
              {target("trace_ways"), "deep", "600"});
  ASSERT_TRUE(reader.sums().is_object()) << run_of.outcome.text();
  EXPECT_EQ(schema_error(reader), "");
}

TEST(Emit, is_refused_before_anything_is_started) {
  const TempDir directory;
  const auto refused = [&](const Words& options, int status) {
    const Outcome outcome =
        run(superprofiler(directory, options, {target("trace_ways"), "fib", "3"}));
    EXPECT_EQ(outcome.exit_status(), status) << outcome.text();
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  };
  write_file(directory / "plain", "");
  refused({"--emit", "unix:" + (directory / "socket")}, 2);  // without --tree
  refused({"--tree", "--emit", "unix:" + (directory / "plain")}, 2);
  refused({"--tree", "--emit", "unix:" + (directory / std::string(108, 'x'))}, 2);
  refused({"--tree", "--emit", "unix:" + (directory / "no/socket")}, 125);
  refused({"--tree", "--emit", "fd:77"}, 2);
  refused({"--tree", "--emit", "fd:0", "--label", "x"}, 2);
  refused({"--tree", "--emit", "fd:0", "--emit-every", "1ms"}, 2);
  refused({"--tree", "--emit", "fd:0", "--emit-budget", "10MB"}, 2);
  refused({"--tree", "--trace"}, 2);
  refused({"--tree", "-n"}, 2);
}

TEST(Emit, goes_on_without_a_reader_and_says_so) {
  const TempDir directory;
  const auto run = profile(directory, {"--tree", "--emit", "unix:" + (directory / "socket")},
                           {target("trace_ways"), "fib", "3"});
  EXPECT_EQ(run.outcome.exit_status(), 0);
  EXPECT_EQ(run.outcome.out, "2\n");
  EXPECT_NE(run.outcome.err.find("nobody listens"), std::string::npos) << run.outcome.err;
  EXPECT_NE(run.outcome.err.find("has not got everything"), std::string::npos) << run.outcome.err;
}

TEST(Emit, takes_an_inherited_socket_that_the_program_does_not_get) {
  std::array<int, 2> fds{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
  const core::UniqueFd ours(fds[0]);
  core::UniqueFd theirs(fds[1]);
  constexpr int kGiven = 9;
  const TempDir directory;
  StartOptions start;
  start.before_exec = [fd = theirs.get()] { ::dup2(fd, kGiven); };
  const auto run = profile(directory, {"--tree", "--emit", "fd:9"},
                           {"/bin/sh", "-c", "test -e /proc/self/fd/9; echo $?"}, start);
  theirs.reset();
  EXPECT_EQ(run.outcome.out, "1\n") << run.outcome.text();
  std::string text;
  std::array<char, 4096> bytes{};
  for (ssize_t size = 0; (size = ::read(ours.get(), bytes.data(), bytes.size())) > 0;) {
    text.append(bytes.data(), static_cast<std::size_t>(size));
  }
  EXPECT_TRUE(text.starts_with("{\"type\":\"hello\"")) << text;
  EXPECT_TRUE(text.ends_with("{\"type\":\"event\",\"data\":{\"exit\":0}}\n"));
}

}  // namespace
}  // namespace sp::end_to_end
