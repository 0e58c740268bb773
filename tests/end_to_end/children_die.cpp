// Children that end before they report, or before their creator does: nobody waits for them.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <thread>
#include <tuple>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

const char* const kHows[] = {"exits", "parent", "fork", "vfork"};
const char* const kModes[] = {"", "-n", "-a", "--single"};

/// The end of a run takes milliseconds; waiting for a child that is gone takes ten seconds.
std::chrono::seconds soon() { return std::chrono::seconds(lengthened(5)); }

class ChildrenDie : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  static Words options(const Words& more) {
    Words all = {"-q"};
    if (const std::string mode = std::get<1>(GetParam()); !mode.empty()) {
      all.push_back(mode);
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  static Words program(const std::string& rounds) {
    return {target("children_die"), std::get<0>(GetParam()), rounds};
  }
};

TEST_P(ChildrenDie, a_launched_run_ends_with_its_target) {
  const TempDir directory;
  Running profiler(superprofiler(directory, options({}), program(std::to_string(scaled(200)))));
  ASSERT_TRUE(profiler.says("0 bad\n")) << profiler.wait().text();
  const Outcome outcome = profiler.wait(soon());
  ASSERT_TRUE(outcome.wait_status) << "waits for a child that is gone";
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
}

TEST_P(ChildrenDie, an_attached_run_ends_when_it_is_told_to) {
  Running children(program("0"));
  ASSERT_TRUE(children.says("ready\n"));
  for (const int number : {SIGINT, SIGTERM}) {
    const TempDir directory;
    Running profiler(superprofiler(
        directory, options({"--follow", "all", "-p", std::to_string(children.pid())})));
    ASSERT_TRUE(eventually([&] { return status_of(children.pid(), "TracerPid") != "0"; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(lengthened(300)));
    profiler.signal(number);
    const Outcome outcome = profiler.wait(soon());
    ASSERT_TRUE(outcome.wait_status) << "waits for a child that is gone, after signal " << number;
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    EXPECT_EQ(what_was_left_behind(children.pid()), "");
    EXPECT_EQ(changed_text(children.pid()), "");
  }
  children.close_input();
  const Outcome outcome = children.wait();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.out, "ready\n0 bad\n");
}

std::string name_of(const ::testing::TestParamInfo<ChildrenDie::ParamType>& info) {
  const std::string mode = std::get<1>(info.param);
  return std::string(std::get<0>(info.param)) + (mode.empty()   ? "_default"
                                                 : mode == "-n" ? "_samples"
                                                 : mode == "-a" ? "_all"
                                                                : "_single");
}

INSTANTIATE_TEST_SUITE_P(Each, ChildrenDie,
                         ::testing::Combine(::testing::ValuesIn(kHows),
                                            ::testing::ValuesIn(kModes)),
                         name_of);

}  // namespace
}  // namespace sp::end_to_end
