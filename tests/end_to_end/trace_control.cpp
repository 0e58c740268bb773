// --trace that is switched off and on: --control, ctl, --start-off, --trigger.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "end_to_end/profiled.h"
#include "end_to_end/trace_client.h"

namespace sp::end_to_end {
namespace {

using nlohmann::json;

/// Of a program that calls what its input says, by a client that tells it what to do.
struct AttachedTrace {
  TempDir directory;
  Running program{{target("switched_calls"), "0"}};
  Running tracer = attach();
  Client client = client_of(directory / "control");

  Running attach() {
    EXPECT_TRUE(program.says("ready"));
    return Running(superprofiler(directory, {"--trace", "-a", "--control", directory / "control",
                                             "-p", std::to_string(program.pid())}));
  }
  /// The first sample begins the trace.
  bool has_begun() {
    return eventually([&] {
      program.write_input("q");
      (void)client.tell("flush");
      return client.tell("status").value("events", 0) > 0;
    });
  }
};

TEST(TraceControl, switches_off_and_on_under_calling_threads) {
  constexpr int kRounds = 20;
  const TempDir directory;
  Running program({target("switched_calls"), "8"});
  ASSERT_TRUE(program.says("ready"));
  Running tracer(superprofiler(directory, {"--trace", "-a", "--control", directory / "control",
                                           "--start-off", "-p", std::to_string(program.pid())}));
  const Client client = client_of(directory / "control");
  EXPECT_EQ(client.tell("status")["on"], false);
  for (int round = 0; round < kRounds; ++round) {
    EXPECT_EQ(client.tell("on")["on"], true);
    EXPECT_EQ(client.tell("off")["on"], false);
    ASSERT_TRUE(round % 7 != 0 || changed_text(program.pid()).empty()) << round;
  }
  EXPECT_EQ(client.tell("on")["on"], true);
  EXPECT_NE(changed_text(program.pid()), "");
  ASSERT_TRUE(eventually([&] { return client.tell("status").value("events", 0) > 1000; }));
  EXPECT_EQ(client.tell("status")["times_off"], kRounds + 1);
  EXPECT_EQ(client.tell("stop")["ok"], true);
  EXPECT_EQ(tracer.wait().exit_status(), 0);
  EXPECT_EQ(what_was_left_behind(program.pid()), "");
  program.close_input();
  EXPECT_EQ(program.wait().exit_status(), 0);
  auto calls = closings_in(directory / "run");
  EXPECT_GT(calls["outer returned"], 20U);
  EXPECT_EQ(calls["outer unwound"] + calls["inner unwound"] + calls["inner tail"], 0U);
}

TEST(TraceControl, says_after_a_clear_what_the_run_says_at_its_end) {
  AttachedTrace trace;
  auto& [directory, program, tracer, client] = trace;
  ASSERT_TRUE(trace.has_begun());
  EXPECT_EQ(client.tell("off")["on"], false);
  (void)client.tell("flush");
  const int events = client.tell("status").value("events", 0);
  EXPECT_EQ(client.tell("clear")["ok"], true);
  const json status = client.tell("status");
  EXPECT_EQ(status.value("events", -1), 0) << status;
  EXPECT_EQ(status.value("cleared", -1), events) << status;
  tracer.signal(SIGINT);
  ASSERT_EQ(tracer.wait().exit_status(), 0);
  program.close_input();
  EXPECT_EQ(program.wait().exit_status(), 0);
  const json facts = json::parse(read_file(directory / "run" + "/run.json"))["trace"];
  EXPECT_EQ(facts["events"], status["events"]) << facts;
  EXPECT_EQ(facts["cleared"], status["cleared"]) << facts;
}

TEST(TraceControl, has_calls_that_are_open_when_it_is_switched) {
  AttachedTrace trace;
  auto& [directory, program, tracer, client] = trace;
  ASSERT_TRUE(trace.has_begun());
  EXPECT_EQ(client.tell("off")["on"], false);
  program.write_input("qqq");
  EXPECT_EQ(client.tell("clear")["ok"], true);
  program.write_input("l");  // until the next byte
  ASSERT_TRUE(program.says("long"));
  EXPECT_EQ(client.tell("on")["on"], true);
  program.write_input("q");
  ASSERT_TRUE(eventually([&] {
    (void)client.tell("flush");
    return client.tell("status").value("events", 0) >= 8;
  }));
  EXPECT_EQ(client.tell("off")["on"], false);
  tracer.signal(SIGINT);
  ASSERT_EQ(tracer.wait().exit_status(), 0);
  program.close_input();
  EXPECT_EQ(program.wait().exit_status(), 0);
  auto calls = closings_in(directory / "run");
  EXPECT_EQ(calls["handle_request entered-before"], 1U);
  EXPECT_EQ(calls["part_of_request entered-before"], 1U);
  EXPECT_EQ(calls["handle_request unwound"], 0U);
}

TEST(TraceControl, triggers_make_a_flight_recorder) {
  const TempDir directory;
  Running tracer(
      superprofiler(directory,
                    {"--trace", "-a", "--when-full", "keep", "--buffer", "100", "--control",
                     directory / "control", "--trigger", "handle_request@flush,if=dur>10ms",
                     "--trigger", "part_of_request@stop,if=arg1>0,after=1"},
                    {target("switched_calls"), "0"}));
  ASSERT_TRUE(tracer.says("ready"));
  const Client client = client_of(directory / "control");
  tracer.write_input("qqq");
  ASSERT_TRUE(
      eventually([&] { return tracer.out().find("done\ndone\ndone") != std::string::npos; }));
  EXPECT_EQ(client.tell("status")["events"], 0);
  tracer.write_input("s");
  ASSERT_TRUE(eventually([&] { return client.tell("status").value("events", 0) > 10; }));
  tracer.write_input("s");  // and ends the run
  ASSERT_TRUE(eventually([&] { return ::access((directory / "control").c_str(), F_OK) != 0; }));
  tracer.close_input();
  EXPECT_EQ(tracer.wait().exit_status(), 0);
  auto calls = closings_in(directory / "run");
  EXPECT_EQ(calls["handle_request returned"], 4U);
}

TEST(TraceControl, a_trigger_switches_on_what_is_off) {
  const TempDir directory;
  const Outcome outcome = run(superprofiler(
      directory,
      {"--trace", "--start-off", "--trigger", "second@on", "--trigger", "leaf@off,after=1"},
      {target("trace_ways"), "tails"}));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(closings_in(directory / "run"),
            (std::map<std::string, std::uint64_t>{{"_start at-end", 1},
                                                  {"main at-end", 1},
                                                  {"second tail", 1},
                                                  {"third tail", 1},
                                                  {"leaf returned", 1},
                                                  {"last tail", 1}}));
}

TEST(TraceControl, triggers_see_what_is_open_return) {
  const TempDir directory;
  Running tracer(superprofiler(directory, {"--trace", "--start-off", "--trigger", "leaf@on"},
                               {target("trace_ways"), "deep-wait", "50"}));
  ASSERT_TRUE(tracer.says("ready"));
  tracer.write_input("x\n\n");
  const Outcome outcome = tracer.wait();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  auto calls = closings_in(directory / "run");
  EXPECT_EQ(calls["leaf returned"], 51U);
  EXPECT_EQ(calls["waits_deep entered-before"], 51U);
  EXPECT_EQ(calls["main entered-before"], 1U);
}

TEST(TraceControl, serves_clients_that_are_slow_or_die) {
  const TempDir directory;
  const std::string socket = directory / "control";
  Running tracer(
      superprofiler(directory, {"--trace", "--control", socket}, {target("switched_calls"), "0"}));
  ASSERT_TRUE(tracer.says("ready"));
  struct stat made {};
  ASSERT_EQ(::stat(socket.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777U, 0600U);
  const Client half(socket);
  half.send("stat");
  Client(socket).send(std::string(2000, '\n'));
  const Client flood(socket);
  flood.send(std::string(std::size_t{1} << 20U, 'x'));
  const Client client(socket);
  const json unknown = client.tell("onn");
  EXPECT_EQ(unknown["ok"], false);
  EXPECT_EQ(unknown["commands"].size(), 12U);
  EXPECT_EQ(client.tell("prune soon")["ok"], false);
  EXPECT_EQ(client.tell("prune 10d")["ok"], true);
  EXPECT_EQ(client.tell("prune 0s")["removed"].size(), 0U);
  EXPECT_TRUE(eventually([&] { return !client.tell("files")["files"].empty(); }));  // once flushed
  EXPECT_EQ(client.tell("config")["when_full"], "flush");
  EXPECT_EQ(half.tell("us")["ok"], true);
  EXPECT_EQ(flood.tell("")["ok"], false);
  EXPECT_EQ(flood.tell("status")["ok"], true);
  EXPECT_EQ(run({SP_PROGRAM, "ctl", socket, "status"}).exit_status(), 0);
  EXPECT_EQ(run({SP_PROGRAM, "ctl", socket, "onn"}).exit_status(), 1);
  tracer.close_input();
  EXPECT_EQ(tracer.wait().exit_status(), 0);
  EXPECT_NE(::access(socket.c_str(), F_OK), 0);
  const Outcome late = run({SP_PROGRAM, "ctl", socket, "status"});
  EXPECT_EQ(late.exit_status(), 125) << late.text();
}

TEST(TraceControl, says_what_is_wrong_before_it_begins) {
  const TempDir directory;
  const auto refused = [&](const Words& options, const std::string& why) {
    Words words{SP_PROGRAM, "-o", directory.path()};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", target("switched_calls"), "0"});
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_status(), 2) << outcome.text();
    EXPECT_NE(outcome.err.find(why), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  };
  refused({"--trace", "--trigger", "handle_reqest@flush"}, "handle_request");
  refused({"--trace", "--trigger", "outer@jump"}, "'jump' is not on, off, flush or stop");
  refused({"--trace", "--trigger", "outer@on,if=dur=3"}, "dur>");
  refused({"--trace", "--start-off"}, "nothing would ever switch");
  refused({"--control", directory / "c"}, "--control is for --trace");
  refused({"--trace", "--control", std::string(108, 'x')}, "at most 107 bytes");
  refused({"--trace", "--trace-size", "1kB"}, "smallest");
  write_file(directory / "file", "");
  refused({"--trace", "--control", directory / "file"}, "is no socket");
}

TEST(TraceControl, keeps_to_the_size_and_says_what_is_lost) {
  const TempDir directory;
  const auto run = profile(directory, {"--trace", "-a", "--trace-size", "100kB"},
                           {target("trace_ways"), "fib", "22"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_LE(read_file(directory / "run/trace.sp").size(), 100'000U);
  EXPECT_GT(run.files.run()["trace"]["lost"], 100);
  EXPECT_EQ(run.files.calls_of("fib"), 57'313U);
  EXPECT_NE(run.outcome.err.find("--trace-size"), std::string::npos) << run.outcome.err;
}

}  // namespace
}  // namespace sp::end_to_end
