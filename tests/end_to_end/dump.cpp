// All stacks of a process once: right, complete, and nothing of the process is changed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

Words dump_of(pid_t pid, const Words& options = {"--json"}) {
  Words words{SP_PROGRAM, "dump", "-p", std::to_string(pid)};
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

nlohmann::json dumped(pid_t pid) {
  const Outcome outcome = run(dump_of(pid));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  EXPECT_TRUE(json.is_object()) << outcome.out << outcome.err;
  return json;
}

bool has(const nlohmann::json& thread, const std::string& function) {
  const auto& stack = thread.at("stack");
  return std::any_of(stack.begin(), stack.end(),
                     [&](const auto& call) { return call.at("function") == function; });
}

std::size_t count_with(const nlohmann::json& dump, const std::string& function) {
  const auto& threads = dump.at("threads");
  return static_cast<std::size_t>(std::count_if(
      threads.begin(), threads.end(), [&](const auto& one) { return has(one, function); }));
}

TEST(Dump, shows_every_thread_with_whole_stacks) {
  Running steady({target("steady"), "3", "20"});
  ASSERT_TRUE(steady.says("ready\n"));
  ASSERT_TRUE(eventually([&] { return state_of(steady.pid(), steady.pid()) == 'S'; }));
  const auto dump = dumped(steady.pid());
  const auto& threads = dump.at("threads");
  ASSERT_EQ(threads.size(), 24U);
  EXPECT_EQ(threads[0].at("tid"), steady.pid());
  EXPECT_TRUE(has(threads[0], "main")) << threads[0];
  EXPECT_EQ(threads[0].at("state"), "sleeping");
  EXPECT_EQ(threads[0].at("syscall"), "read");
  for (const auto& thread : threads) {
    EXPECT_TRUE(thread.at("truncated_by").is_null()) << thread.dump(1);
    EXPECT_EQ(thread.at("name"), "steady");
  }
  EXPECT_EQ(count_with(dump, "work"), 3U);
  EXPECT_EQ(count_with(dump, "rest"), 20U);
  EXPECT_LE(dump.at("stopped_us"), lengthened(50000));
  EXPECT_EQ(what_was_left_behind(steady.pid()), "");
  steady.close_input();
  EXPECT_EQ(steady.wait().out, "ready\nright\n");
}

TEST(Dump, shows_lines_and_offsets_for_people) {
  Running steady({target("steady"), "0", "1"});
  ASSERT_TRUE(steady.says("ready\n"));
  const Outcome outcome = run(dump_of(steady.pid(), {}));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_TRUE(outcome.out.starts_with("process " + std::to_string(steady.pid()) + " "));
  EXPECT_NE(outcome.out.find("\" sleeping in "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(" rest+0x"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("(steady+0x"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("steady.c:"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.err, "superprofiler: nothing was stopped: all are asleep\n");
}

TEST(Dump, ends_no_call_of_a_sleeper) {
  for (const char* const beside : {"idle", "busy"}) {
    Running sleepers({target("listed_sleepers"), beside});
    ASSERT_TRUE(sleepers.says("ready\n"));
    for (int round = 0; round < scaled(5); ++round) {
      const auto dump = dumped(sleepers.pid());
      EXPECT_EQ(count_with(dump, "rest"), 19U) << dump.dump(1);
    }
    EXPECT_EQ(what_was_left_behind(sleepers.pid()), "");
    sleepers.close_input();
    EXPECT_EQ(sleepers.wait().out, "ready\nright\n");
  }
}

TEST(Dump, leaves_a_stopped_process_stopped) {
  Running steady({target("steady"), "2", "2"});
  ASSERT_TRUE(steady.says("ready\n"));
  steady.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return state_of(steady.pid(), steady.pid()) == 'T'; }));
  const auto dump = dumped(steady.pid());
  EXPECT_EQ(count_with(dump, "work"), 2U);
  EXPECT_EQ(count_with(dump, "rest"), 2U);
  for (const auto& thread : dump.at("threads")) {
    EXPECT_EQ(thread.at("state"), "stopped");
  }
  EXPECT_TRUE(eventually([&] {
    const auto tids = threads_of(steady.pid());
    return std::all_of(tids.begin(), tids.end(),
                       [&](pid_t tid) { return state_of(steady.pid(), tid) == 'T'; });
  }));
  steady.signal(SIGCONT);
  steady.close_input();
  EXPECT_EQ(steady.wait().out, "ready\nright\n");
}

TEST(Dump, survives_many_rounds_of_a_busy_program) {
  Running busy({target("busy_world")});
  ASSERT_TRUE(busy.says("ready\n"));
  for (int round = 0; round < scaled(6); ++round) {
    const auto dump = dumped(busy.pid());
    EXPECT_EQ(count_with(dump, "compute"), 18U) << dump.dump(1);
  }
  busy.close_input();
  EXPECT_EQ(busy.wait().out, "ready\nright\n");
}

TEST(Dump, that_is_killed_leaves_the_target_running) {
  std::minstd_rand random(7);
  Running steady({target("steady"), "3", "20"});
  ASSERT_TRUE(steady.says("ready\n"));
  for (int round = 0; round < scaled(60) && !::testing::Test::HasFailure(); ++round) {
    Running dump(dump_of(steady.pid()));
    ::usleep(static_cast<useconds_t>(random() % 30000));
    dump.signal(SIGKILL);
    (void)dump.wait();
    EXPECT_TRUE(eventually([&] { return what_was_left_behind(steady.pid()).empty(); }))
        << "round " << round << ": " << what_was_left_behind(steady.pid());
    const auto ticks = cpu_ticks(steady.pid());
    EXPECT_TRUE(eventually([&] { return cpu_ticks(steady.pid()) > ticks; })) << round;
  }
  steady.close_input();
  EXPECT_EQ(steady.wait().out, "ready\nright\n");
}

TEST(Dump, takes_several_processes_one_by_one) {
  Running first({target("steady"), "1", "2"});
  Running second({target("steady"), "2"});
  ASSERT_TRUE(first.says("ready\n") && second.says("ready\n"));
  const std::string both = std::to_string(first.pid()) + "," + std::to_string(second.pid());
  const Outcome outcome = run({SP_PROGRAM, "dump", "--json", "-p", both});
  ASSERT_EQ(outcome.exit_status(), 0) << outcome.text();
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(json.is_array() && json.size() == 2) << outcome.out;
  EXPECT_EQ(json[0].at("pid"), first.pid());
  EXPECT_EQ(json[1].at("pid"), second.pid());
  EXPECT_EQ(count_with(json[0], "work"), 1U);
  EXPECT_EQ(count_with(json[0], "rest"), 2U);
  EXPECT_EQ(count_with(json[1], "work"), 2U);
  // One that is gone does not keep the others from being shown.
  Running gone({"/bin/true"});
  (void)gone.wait();
  const Outcome some = run({SP_PROGRAM, "dump", "-p", std::to_string(first.pid()), "-p",
                            std::to_string(gone.pid()), "-p", std::to_string(second.pid())});
  EXPECT_EQ(some.exit_status(), 125) << some.text();
  EXPECT_NE(some.err.find("no process " + std::to_string(gone.pid())), std::string::npos);
  for (const Running* one : {&first, &second}) {
    EXPECT_NE(some.out.find("process " + std::to_string(one->pid()) + " "), std::string::npos);
    EXPECT_EQ(what_was_left_behind(one->pid()), "");
  }
  first.close_input();
  second.close_input();
  EXPECT_EQ(first.wait().out, "ready\nright\n");
  EXPECT_EQ(second.wait().out, "ready\nright\n");
}

TEST(Dump, says_in_one_line_why_it_cannot) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(0);
  }
  ASSERT_TRUE(eventually([&] { return state_of(child, child) == 'Z'; }));
  const Outcome zombie = run(dump_of(child));
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(zombie.exit_status(), 125);
  EXPECT_EQ(zombie.out, "");
  EXPECT_NE(zombie.err.find("zombie"), std::string::npos) << zombie.err;
  EXPECT_EQ(std::count(zombie.err.begin(), zombie.err.end(), '\n'), 1) << zombie.err;
  EXPECT_EQ(run({SP_PROGRAM, "dump"}).exit_status(), 2);
  EXPECT_EQ(run({SP_PROGRAM, "dump", "-p", "1", "--", "ls"}).exit_status(), 2);
}

}  // namespace
}  // namespace sp::end_to_end
