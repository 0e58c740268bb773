// One run of several processes, or of single threads.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "end_to_end/probe_support.h"
#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

bool is_traced(pid_t pid, pid_t tracer) {
  return eventually([&] { return status_of(pid, "TracerPid") == std::to_string(tracer); });
}

/// Works until its stdin ends.
class Worker {
 public:
  explicit Worker(const std::string& workers) : running_({target("steady"), workers}) {
    is_ready_ = running_.says("ready\n");
  }
  [[nodiscard]] bool is_ready() const { return is_ready_; }
  [[nodiscard]] pid_t pid() const { return running_.pid(); }
  [[nodiscard]] std::string id() const { return std::to_string(pid()); }
  void works_for(long ticks) const {
    const auto before = cpu_ticks(pid());
    ASSERT_TRUE(eventually([&] { return cpu_ticks(pid()) > before + ticks; }));
  }
  void expect_right_answer() {
    running_.close_input();
    const Outcome outcome = running_.wait();
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    EXPECT_EQ(outcome.out, "ready\nright\n");
  }
  void expect_unharmed() {
    EXPECT_EQ(what_was_left_behind(pid()), "");
    EXPECT_EQ(changed_text(pid()), "");
    expect_right_answer();
  }

 private:
  Running running_;
  bool is_ready_ = false;
};

std::vector<int> pids_of(const RunFiles& files) {
  std::vector<int> pids;
  const auto run = files.run();
  for (const auto& process : run.at("processes")) {
    pids.push_back(process.at("pid"));
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

class AttachToSeveralIn : public ::testing::TestWithParam<std::string> {};

TEST_P(AttachToSeveralIn, is_one_run_that_leaves_each_as_it_was) {
  const TempDir directory;
  Worker first("1");
  Worker second("2");
  Worker third("1");
  ASSERT_TRUE(first.is_ready() && second.is_ready() && third.is_ready());
  Running profiler(superprofiler(
      directory, {GetParam(), "-p", first.id() + "," + second.id(), "-p", third.id()}));
  for (const Worker* one : {&first, &second, &third}) {
    ASSERT_TRUE(is_traced(one->pid(), profiler.pid())) << profiler.err();
    one->works_for(GetParam() == "--single" ? 2 : 20);
  }
  profiler.signal(SIGINT);
  const Outcome outcome = profiler.wait();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  const RunFiles files(directory / "run");
  ASSERT_TRUE(files.complete()) << outcome.text();
  EXPECT_EQ(files.run().at("end"), "detached");
  EXPECT_EQ(files.run().at("pid"), first.pid());
  std::vector<int> pids{first.pid(), second.pid(), third.pid()};
  std::sort(pids.begin(), pids.end());
  EXPECT_EQ(pids_of(files), pids);
  if (GetParam() != "-n") {
    EXPECT_TRUE(files.calls_of("add_up") + files.total_of("add_up") > 0 ||
                functions_with_blocks(files).contains("add_up"))
        << outcome.text();
  }
  first.expect_unharmed();
  second.expect_unharmed();
  third.expect_unharmed();
}

INSTANTIATE_TEST_SUITE_P(Modes, AttachToSeveralIn,
                         testing::Values("-v", "-n", "-a", "--single", "--trace", "--coverage"),
                         [](const auto& mode) {
                           std::string name = mode.param.substr(mode.param.find_first_not_of('-'));
                           return name == "v" ? std::string("default_mode") : name;
                         });

TEST(AttachToSeveral, lasts_until_the_last_one_ends) {
  const TempDir directory;
  Worker first("1");
  Worker second("1");
  ASSERT_TRUE(first.is_ready() && second.is_ready());
  Running profiler(superprofiler(directory, {"-p", first.id() + "," + second.id()}));
  ASSERT_TRUE(is_traced(first.pid(), profiler.pid())) << profiler.err();
  ASSERT_TRUE(is_traced(second.pid(), profiler.pid())) << profiler.err();
  first.expect_right_answer();
  second.works_for(20);
  EXPECT_EQ(status_of(second.pid(), "TracerPid"), std::to_string(profiler.pid()));
  second.expect_right_answer();
  const Outcome outcome = profiler.wait();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(RunFiles(directory / "run").run().at("end"), "target_exited") << outcome.text();
}

TEST(AttachToSeveral, begins_with_none_if_one_is_refused) {
  const TempDir directory;
  Worker worker("1");
  ASSERT_TRUE(worker.is_ready());
  Running gone({"/bin/true"});
  (void)gone.wait();
  const Outcome outcome =
      run(superprofiler(directory, {"-p", worker.id() + "," + std::to_string(gone.pid())}));
  EXPECT_EQ(outcome.exit_status(), 125) << outcome.text();
  EXPECT_NE(outcome.err.find("no process " + std::to_string(gone.pid())), std::string::npos);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.text();
  EXPECT_NE(::access((directory / "run").c_str(), F_OK), 0) << "a run's directory was left";
  worker.expect_unharmed();
}

TEST(AttachToThread, samples_it_alone) {
  Worker worker("2");
  ASSERT_TRUE(worker.is_ready());
  const auto tids = threads_of(worker.pid());
  ASSERT_EQ(tids.size(), 3U);
  for (const pid_t tid : tids) {
    const TempDir directory;
    const std::string id = std::to_string(tid);
    const Outcome outcome = run(superprofiler(
        directory, {"-n", "--wall", "--by-thread", "--threads", "main", "-p", id, "-d", "300ms"}));
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    const auto stacks = RunFiles(directory / "run").stacks();
    ASSERT_FALSE(stacks.empty()) << outcome.text();
    bool works = false;
    for (const FoldedStack& stack : stacks) {
      EXPECT_EQ(stack.frames.front(), "steady (" + id + ")");
      works = works || stack.has("add_up");
    }
    EXPECT_EQ(works, tid != worker.pid()) << "its first thread waits";
  }
  worker.expect_unharmed();
}

TEST(AttachToThread, ends_with_it) {
  const TempDir directory;
  Running python({"/usr/bin/python3", "-c",
                  "import sys, threading\n"
                  "def wait():\n"
                  "  print(threading.get_native_id(), flush=True)\n"
                  "  sys.stdin.readline()\n"
                  "thread = threading.Thread(target=wait)\n"
                  "thread.start()\n"
                  "thread.join()\n"
                  "sys.stdin.readline()\n"
                  "print('done')\n"});
  ASSERT_TRUE(python.says("\n"));
  const std::string tid = python.out().substr(0, python.out().find('\n'));
  Running profiler(superprofiler(directory, {"-n", "--threads", "main", "-p", tid}));
  ASSERT_TRUE(is_traced(python.pid(), profiler.pid())) << profiler.err();
  python.write_input("\n");
  const Outcome outcome = profiler.wait();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(what_was_left_behind(python.pid()), "");
  python.write_input("\n");
  const Outcome end = python.wait();
  EXPECT_EQ(end.exit_status(), 0) << end.text();
  EXPECT_NE(end.out.find("done"), std::string::npos);
}

}  // namespace
}  // namespace sp::end_to_end
