// The files of a run are complete or absent, and errors are reported.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

TEST(Files, of_a_snapshot_are_whole_while_the_target_runs) {
  const TempDir directory;
  Running profiler(superprofiler(directory, {"--flame"}, {target("steady"), "2"}));
  ASSERT_TRUE(profiler.says("ready\n"));
  const RunFiles files(directory / "run");
  const pid_t launched = launched_by(profiler.pid());
  std::uint64_t before = 0;
  double elapsed = 0;
  for (int round = 0; round < 5; ++round) {
    const auto ticks = cpu_ticks(launched);
    ASSERT_TRUE(eventually([&] { return cpu_ticks(launched) > ticks + 5; }));
    profiler.signal(SIGUSR1);
    // Files are replaced atomically, so they can be read at any moment.
    ASSERT_TRUE(eventually([&] {
      const auto run = files.run();
      return run.is_object() && run.at("elapsed_seconds").get<double>() > elapsed;
    })) << profiler.err();
    elapsed = files.run().at("elapsed_seconds").get<double>();
    EXPECT_GE(files.samples(), before);
    before = files.samples();
    // run.json is written first.
    ASSERT_TRUE(eventually([&] { return files.complete(); }));
  }
  EXPECT_TRUE(eventually(
      [&] { return read_file(files.directory() + "/flamegraph.svg").ends_with("</svg>\n"); }));
  EXPECT_FALSE(profiler.ended());
  profiler.close_input();
  const Outcome outcome = profiler.wait();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_TRUE(files.complete());
  EXPECT_GE(files.samples(), before);
  EXPECT_GT(files.samples(), 0U);
}

TEST(Files, of_an_earlier_run_are_not_touched) {
  const TempDir directory;
  std::filesystem::create_directory(directory / "run");
  write_file(directory / "run/run.json", "precious");
  const std::string proof = directory / "ran";
  const auto run = profile(directory, {}, {"/bin/sh", "-c", "touch " + proof});
  EXPECT_EQ(run.outcome.exit_status(), 125) << run.outcome.text();
  EXPECT_NE(run.outcome.err.find("--overwrite"), std::string::npos) << run.outcome.text();
  EXPECT_EQ(std::count(run.outcome.err.begin(), run.outcome.err.end(), '\n'), 1);
  EXPECT_FALSE(std::filesystem::exists(proof)) << "the program was started";
  EXPECT_EQ(read_file(directory / "run/run.json"), "precious");
  const auto again = profile(directory, {"--overwrite"}, {"/bin/sh", "-c", "touch " + proof});
  EXPECT_EQ(again.outcome.exit_status(), 0) << again.outcome.text();
  EXPECT_TRUE(std::filesystem::exists(proof));
  EXPECT_TRUE(again.files.complete());
}

TEST(Files, cannot_be_made_where_nobody_may_write) {
  const TempDir directory;
  const std::string proof = directory / "ran";
  write_file(directory / "file", "");
  // Even root cannot make a directory below a file, or in /proc.
  for (const std::string& place : {directory / "file", std::string("/proc/here")}) {
    const Outcome outcome = run({SP_PROGRAM, "-o", place, "--", "/bin/sh", "-c", "touch " + proof});
    EXPECT_EQ(outcome.exit_status(), 125) << outcome.text();
    EXPECT_NE(outcome.err.find(place), std::string::npos) << outcome.text();
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.text();
    EXPECT_FALSE(std::filesystem::exists(proof)) << "the program was started";
  }
}

/// Every existing file is complete, and missing files were reported.
void expect_reported_and_complete(const Outcome& outcome, const RunFiles& files) {
  const bool all = files.complete();
  EXPECT_TRUE(all || outcome.own_lines().find("writing") != std::string::npos) << outcome.text();
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(files.directory(), error)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
  }
  const std::string json = read_file(files.directory() + "/run.json");
  EXPECT_TRUE(json.empty() || files.run().is_object()) << "torn";
  const std::string folded = read_file(files.directory() + "/stacks.folded");
  EXPECT_TRUE(folded.empty() || folded.ends_with("\n")) << "torn";
}

TEST(Files, are_never_torn_by_a_size_limit) {
  const TempDir directory;
  StartOptions start;
  start.input = "";
  start.before_exec = [] {
    const rlimit tiny{300, 300};
    ::setrlimit(RLIMIT_FSIZE, &tiny);
  };
  start.environment = {"TMPDIR=" + directory.path()};
  const auto run = profile(directory, {"--flame"}, {target("dies"), "exit", "5"}, start);
  // stderr is a file with the same limit here: it may be full too.
  EXPECT_TRUE(run.outcome.exit_status() == 5) << run.outcome.text();
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path(), error)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
  }
}

TEST(Files, are_saved_elsewhere_when_the_disk_is_full) {
  const TempDir directory;
  const TempDir elsewhere;
  const std::string disk = directory / "disk";
  std::filesystem::create_directory(disk);
  if (::mount("none", disk.c_str(), "tmpfs", 0, "size=16k") != 0) {
    GTEST_SKIP() << "no right to mount a small tmpfs here";
  }
  write_file(disk + "/filler", std::string(16384, 'x'));  // full, except for rounding
  StartOptions start;
  start.input = "";
  start.environment = {"TMPDIR=" + elsewhere.path()};
  const Outcome outcome =
      run({SP_PROGRAM, "-o", disk, "--name", "run", "--flame", "--", target("dies"), "exit", "5"},
          start);
  const bool started = outcome.exit_status() == 5;
  EXPECT_TRUE(started || outcome.exit_status() == 125) << outcome.text();
  EXPECT_NE(outcome.own_lines().find("No space left"), std::string::npos) << outcome.text();
  if (started) {
    bool found = false;
    for (const auto& entry : std::filesystem::directory_iterator(elsewhere.path())) {
      found = found || RunFiles(entry.path()).complete();
      EXPECT_NE(outcome.err.find(entry.path()), std::string::npos) << outcome.text();
    }
    EXPECT_TRUE(found) << outcome.text();
    expect_reported_and_complete(outcome, RunFiles(disk + "/run"));
  }
  ::umount2(disk.c_str(), MNT_DETACH);
}

TEST(Files, have_their_headers_when_nothing_was_sampled) {
  const TempDir directory;
  const auto run = profile(directory, {"--flame"}, {"/bin/true"});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_TRUE(run.files.complete());
  EXPECT_EQ(read_file(directory / "run/functions.tsv").substr(0, 24),
            "module\tfunction\tsource\ts");
  EXPECT_TRUE(read_file(directory / "run/flamegraph.svg").ends_with("</svg>\n"));
}

TEST(Files, agree_with_each_other) {
  const TempDir directory;
  const auto run = profile(directory, {}, {target("recursion"), "300"});
  std::uint64_t folded = 0;
  for (const FoldedStack& stack : run.files.stacks()) {
    folded += stack.count;
  }
  std::uint64_t selves = 0;
  std::uint64_t last = UINT64_MAX;
  for (const FunctionRow& row : run.files.functions()) {
    selves += row.self;
    EXPECT_LE(row.self, last) << "sorted by samples";
    last = row.self;
    EXPECT_LE(row.self, row.total == 0 ? row.self : row.total);
  }
  EXPECT_EQ(folded, run.files.samples());
  EXPECT_EQ(selves, run.files.samples());
  const auto json = run.files.run();
  EXPECT_EQ(json.at("command").at(0), target("recursion"));
  EXPECT_EQ(json.at("end"), "target_exited");
  bool found = false;
  for (const auto& module : json.at("modules")) {
    found = found || module.at("path") == target("recursion");
  }
  EXPECT_TRUE(found);
}

TEST(Files, are_given_up_at_the_third_interrupt) {
  const TempDir directory;
  Running profiler(superprofiler(directory, {}, {target("signal_ways"), "deaf"}));
  ASSERT_TRUE(profiler.says("ready\n"));
  const pid_t launched = launched_by(profiler.pid());
  // The third Ctrl-C may arrive after the writing: superprofiler ends in both cases.
  for (int i = 0; i < 3; ++i) {
    profiler.signal(SIGINT);
    ::usleep(30000);
  }
  EXPECT_TRUE(profiler.wait().wait_status);
  EXPECT_TRUE(eventually([&] { return what_was_left_behind(launched).empty(); }));
  profiler.close_input();
  EXPECT_TRUE(profiler.says("went on\n"));
}

}  // namespace
}  // namespace sp::end_to_end
