#include <gtest/gtest.h>

#include "cli/read.h"
#include "unit/cli/parsing.h"

namespace sp::cli {
namespace {

using core::TraceAction;
using core::TraceTrigger;

TEST(TraceControlOptions, are_read_for_traces_and_trees) {
  const RecordOptions trace =
      record({"--trace", "--control", "/run/c", "--start-off", "--trace-size", "1.5MB",
              "--dormant-after", "40", "--", "prog"});
  EXPECT_EQ(trace.control.path, "/run/c");
  EXPECT_TRUE(trace.control.begins_off);
  EXPECT_EQ(trace.control.dormant_after_percent, 40);
  EXPECT_EQ(trace.trace->most_bytes, 1'500'000U);
  EXPECT_EQ(record({"--tree", "--control", "c", "--", "prog"}).control.path, "c");
  EXPECT_NE(usage_error({"--control", "c", "--", "prog"}).find("add --trace"), std::string::npos);
  EXPECT_NE(usage_error({"--tree", "--trace-size", "1GB", "--", "p"}).find("--trace-size"),
            std::string::npos);
}

TEST(TraceControlOptions, have_triggers) {
  const RecordOptions options =
      record({"--trace", "--trigger", "handle(int, char)@flush,if=dur>50ms,after=10,depth=1",
              "--trigger", "/^f@x/@stop,if=arg2<-1", "--", "prog"});
  ASSERT_EQ(options.control.triggers.size(), 2U);
  const TraceTrigger& first = options.control.triggers[0];
  EXPECT_EQ(first.function, "handle(int, char)");
  EXPECT_EQ(first.action, TraceAction::flush);
  EXPECT_TRUE(first.is_of_duration());
  EXPECT_EQ(first.condition->with, 50'000'000);
  EXPECT_EQ(first.after, 10U);
  EXPECT_EQ(first.depth, 1U);
  const TraceTrigger& second = options.control.triggers[1];
  EXPECT_EQ(second.function, "/^f@x/");
  EXPECT_EQ(second.condition->argument, 2U);
  EXPECT_EQ(second.condition->compares, TraceTrigger::Compares::less);
  EXPECT_EQ(second.condition->with, -1);
}

TEST(TraceControlOptions, refuse_triggers_that_mean_nothing) {
  for (const char* text : {"f", "@on", "f@", "f@now", "f@on,if=dur", "f@on,if=dur=5ms",
                           "f@on,if=arg7>1", "f@on,if=arg0>1", "f@on,if=arg1>x", "f@on,after=0",
                           "f@on,depth=x", "f@on,when=1", "/(/@on"}) {
    const auto trigger = read_trigger(text);
    ASSERT_FALSE(trigger) << text;
    EXPECT_NE(trigger.error().message().find("--trigger"), std::string::npos) << text;
  }
}

TEST(CtlOptions, are_a_socket_and_a_line) {
  const Parsed outcome = parsed({"ctl", "/run/c", "prune", "1h"});
  const auto* ctl = std::get_if<CtlOptions>(&outcome);
  ASSERT_NE(ctl, nullptr);
  EXPECT_EQ(ctl->path, "/run/c");
  EXPECT_EQ(ctl->command, "prune 1h");
  EXPECT_NE(usage_error({"ctl", "/run/c"}).find("status"), std::string::npos);
  EXPECT_NE(usage_error({"ctl", std::string(108, 'x'), "on"}).find("107"), std::string::npos);
}

}  // namespace
}  // namespace sp::cli
