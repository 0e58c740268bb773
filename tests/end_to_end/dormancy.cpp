// --dormant-after: a trace that costs too much is switched off, and can be woken.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "end_to_end/emit_reader.h"
#include "end_to_end/profiled.h"
#include "end_to_end/trace_client.h"

namespace sp::end_to_end {
namespace {

using nlohmann::json;

/// Each call costs a program that does nothing else a hundred times its own time.
const Words kDear = {"-a", "--via", "int3", "--dormant-after", "40"};

std::string notes_in(const RunFiles& files) { return files.run()["notes"].dump(); }

TEST(Dormancy, switches_a_trace_off_that_costs_too_much) {
  const TempDir directory;
  Running program({target("switched_calls"), "2"});
  ASSERT_TRUE(program.says("ready"));
  Words options = kDear;
  options.insert(options.end(), {"--trace", "--when-full", "keep", "--control",
                                 directory / "control", "-p", std::to_string(program.pid())});
  Running tracer(superprofiler(directory, options));
  const Client client = client_of(directory / "control");
  ASSERT_TRUE(eventually([&] { return client.tell("status").value("events", 0) > 0; }));
  ASSERT_TRUE(eventually([&] { return !client.tell("status").value("on", true); }));
  EXPECT_EQ(changed_text(program.pid()), "");
  EXPECT_EQ(client.tell("on")["on"], true);
  EXPECT_NE(changed_text(program.pid()), "");
  EXPECT_EQ(client.tell("stop")["ok"], true);
  const Outcome outcome = tracer.wait();
  EXPECT_EQ(outcome.exit_status(), 0);
  EXPECT_NE(outcome.err.find("ctl PATH on wakes it"), std::string::npos) << outcome.err;
  const RunFiles files(directory / "run");
  EXPECT_NE(notes_in(files).find("40 % of --dormant-after"), std::string::npos) << notes_in(files);
  EXPECT_EQ(files.run()["trace"]["times_off"], 1);
  EXPECT_EQ(what_was_left_behind(program.pid()), "");
  program.close_input();
  EXPECT_EQ(program.wait().exit_status(), 0);
}

TEST(Dormancy, tells_the_reader_of_a_tree) {
  if (!can_check_schema()) {
    GTEST_SKIP() << "needs python3-jsonschema";
  }
  const TempDir directory;
  EmitReader reader(directory, "all");
  Running program({target("switched_calls"), "2"});
  ASSERT_TRUE(program.says("ready"));
  Words options = kDear;
  options.insert(options.end(), {"--tree", "--emit", "unix:" + (directory / "socket"), "--control",
                                 directory / "control", "-p", std::to_string(program.pid())});
  Running tracer(superprofiler(directory, options));
  const Client client = client_of(directory / "control");
  const auto is_told = [&](const std::string& text) {
    return read_file(reader.path()).find(text) != std::string::npos;
  };
  EXPECT_TRUE(eventually([&] { return is_told("\"dormant\""); }));
  EXPECT_EQ(client.tell("on")["on"], true);
  EXPECT_TRUE(eventually([&] { return is_told("\"awake\""); }));
  EXPECT_EQ(client.tell("off")["on"], false);
  EXPECT_EQ(client.tell("stop")["ok"], true);
  EXPECT_EQ(tracer.wait().exit_status(), 0);
  program.close_input();
  EXPECT_EQ(program.wait().exit_status(), 0);
  (void)reader.sums();
  std::vector<std::string> states;
  for (const json& line : reader.lines()) {
    if (line["type"] == "event" && line["data"].contains("state")) {
      const json& data = line["data"];
      states.push_back(data["state"].get<std::string>() + ": " + data["reason"].get<std::string>());
    }
  }
  ASSERT_EQ(states.size(), 3U);
  EXPECT_EQ(states[0].find("dormant: it cost "), 0U) << states[0];
  EXPECT_EQ(states[1], "awake: ctl");
  EXPECT_EQ(states[2], "dormant: ctl");
  EXPECT_EQ(schema_error(reader), "");
}

TEST(Dormancy, is_refused_where_nothing_is_traced) {
  const TempDir directory;
  const Outcome alone =
      run({SP_PROGRAM, "-o", directory.path(), "--dormant-after", "40", "--", "true"});
  EXPECT_EQ(alone.exit_status(), 2);
  EXPECT_NE(alone.err.find("--dormant-after is for --trace"), std::string::npos) << alone.err;
  const Outcome wrong =
      run({SP_PROGRAM, "-o", directory.path(), "--trace", "--dormant-after", "0", "--", "true"});
  EXPECT_EQ(wrong.exit_status(), 2);
  EXPECT_NE(wrong.err.find("--dormant-after"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace sp::end_to_end
