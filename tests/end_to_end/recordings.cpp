// recording.sp has what the other files of a run have, and is left by a superprofiler that is
// killed.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

nlohmann::json info(const std::string& run_or_file) {
  const Outcome outcome = run({SP_PROGRAM, "info", run_or_file, "--json"});
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  return nlohmann::json::parse(outcome.out, nullptr, false);
}

std::string without_commas(std::string text) {
  std::erase(text, ',');
  return text;
}

TEST(Recordings, have_what_the_other_files_have) {
  const TempDir directory;
  const auto profiled = profile(directory, {}, {target("spin_shares"), "300"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  const auto contents = info(directory / "run");
  ASSERT_TRUE(contents.is_object());
  const auto json = profiled.files.run();
  EXPECT_EQ(contents.at("finished"), true);
  EXPECT_EQ(contents.at("samples"), profiled.files.samples());
  EXPECT_EQ(contents.at("samples_kept"), profiled.files.samples());
  EXPECT_EQ(contents.at("samples_stride"), 1);
  EXPECT_EQ(contents.at("pid"), json.at("pid"));
  EXPECT_EQ(contents.at("cpu"), json.at("host_arch"));
  EXPECT_EQ(contents.at("blocks"), json.at("counts").at("blocks"));
  EXPECT_EQ(contents.at("edges"), json.at("counts").at("edges"));
  EXPECT_EQ(contents.at("modules").size(), json.at("modules").size());
  EXPECT_GE(contents.at("functions").get<std::size_t>(), profiled.files.functions().size());
  EXPECT_EQ(contents.at("threads").size(), 1U);
  EXPECT_EQ(contents.at("threads").at(0).at("tid"), json.at("pid"));
  EXPECT_EQ(contents.at("threads").at(0).at("samples"), profiled.files.samples());
  const Outcome text = run({SP_PROGRAM, "info", directory / "run"});
  EXPECT_NE(text.out.find("complete"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("spin_shares"), std::string::npos) << text.out;

  // It needs nothing beside itself.
  std::filesystem::rename(directory / "run/recording.sp", directory / "alone.sp");
  EXPECT_EQ(info(directory / "alone.sp").at("samples"), profiled.files.samples());
  const Outcome none = run({SP_PROGRAM, "info", directory / "run"});
  EXPECT_EQ(none.exit_status(), 125);
  EXPECT_NE(none.err.find("there is no recording in"), std::string::npos) << none.err;
  write_file(directory / "cut.sp", read_file(directory / "alone.sp").substr(0, 2000));
  const Outcome cut = run({SP_PROGRAM, "info", directory / "cut.sp"});
  EXPECT_EQ(cut.exit_status(), 0) << cut.text();
  EXPECT_NE(cut.err.find("cut.sp is cut at byte "), std::string::npos) << cut.err;
  write_file(directory / "other.sp", "something else");
  EXPECT_EQ(run({SP_PROGRAM, "info", directory / "other.sp"}).exit_status(), 125);
}

TEST(Recordings, are_left_by_a_superprofiler_that_was_killed) {
  const TempDir directory;
  Running profiler(superprofiler(directory, {"-n"}, {target("steady"), "2"}));
  ASSERT_TRUE(profiler.says("ready\n"));
  const pid_t launched = launched_by(profiler.pid());
  const std::string file = directory / "run/recording.sp";
  // The header and the first facts are there at once; samples come within some seconds.
  ASSERT_TRUE(eventually([&] {
    return std::filesystem::exists(file) && info(file).at("samples_kept") > 0;
  })) << profiler.err();
  profiler.signal(SIGKILL);
  ASSERT_TRUE(profiler.wait().wait_status);
  EXPECT_TRUE(eventually([&] { return what_was_left_behind(launched).empty(); }));
  const auto contents = info(directory / "run");
  EXPECT_EQ(contents.at("finished"), false);
  EXPECT_GT(contents.at("samples"), 0U);
  EXPECT_EQ(contents.at("pid"), launched);
  EXPECT_EQ(contents.at("threads").size(), 3U) << "two workers and the main thread";
  EXPECT_NE(contents.at("command").get<std::string>().find("steady"), std::string::npos);
  const Outcome text = run({SP_PROGRAM, "info", directory / "run"});
  EXPECT_NE(text.out.find("not complete"), std::string::npos) << text.out;
  EXPECT_EQ(text.err, "") << "it is not damaged";
  const std::string samples = std::to_string(contents.at("samples").get<std::uint64_t>());
  EXPECT_NE(without_commas(text.out).find(" on-CPU " + samples +
                                          " samples; with times and threads: " + samples),
            std::string::npos)
      << text.out;
  // There is no other file. Names come at the end of a run, so there are none.
  const Outcome report = run({SP_PROGRAM, "report", directory / "run"});
  EXPECT_EQ(report.exit_status(), 0) << report.text();
  EXPECT_NE(report.out.find("steady+0x"), std::string::npos) << report.text();
  const Outcome convert = run({SP_PROGRAM, "convert", directory / "run", "-f", "perf-script"});
  EXPECT_EQ(convert.exit_status(), 0) << convert.text();
  EXPECT_NE(read_file(directory / "run/run.perf.txt").find(" cpu-clock: \n"), std::string::npos);
  EXPECT_NE(without_commas(convert.err).find(" on-CPU " + samples + " samples"), std::string::npos)
      << convert.err;
  const Outcome diff = run({SP_PROGRAM, "diff", directory / "run", directory / "run"});
  EXPECT_EQ(diff.exit_status(), 125);
  EXPECT_NE(diff.err.find("has a recording alone"), std::string::npos) << diff.err;
}

/// Recorded on aarch64, of tests/targets/known_counts and spin_shares.
const std::string kOtherRuns = SP_SOURCE_DIR "/tests/fixtures/recordings";

TEST(Recordings, of_another_cpu_are_reported_and_converted) {
  if (!std::filesystem::exists(kOtherRuns)) {
    GTEST_SKIP() << "the sources are not on this machine";
  }
  const std::string counted = kOtherRuns + "/aarch64_counted.sp";
  EXPECT_EQ(info(counted).at("cpu"), "aarch64");
  const Outcome report = run({SP_PROGRAM, "report", counted, "--json"});
  ASSERT_EQ(report.exit_status(), 0) << report.text();
  std::map<std::string, std::uint64_t> calls;
  const auto json = nlohmann::json::parse(report.out, nullptr, false);
  for (const auto& row : json.at("rows")) {
    EXPECT_EQ(row.at("calls_kind"), "exact");
    calls[row.at("name")] = row.at("calls").get<std::uint64_t>();
  }
  EXPECT_EQ(calls["fib"], 177U);
  EXPECT_EQ(calls["in_a_triangle"], 190U);
  EXPECT_EQ(calls["each_round"], 20U);

  const std::string sampled = kOtherRuns + "/aarch64_sampled.sp";
  const Outcome shares = run({SP_PROGRAM, "report", sampled});
  EXPECT_EQ(shares.exit_status(), 0) << shares.text();
  EXPECT_NE(shares.out.find("spin_sixty"), std::string::npos) << shares.out;
  const Outcome folded = run({SP_PROGRAM, "convert", sampled, "-f", "folded", "-o", "-"});
  EXPECT_NE(folded.out.find(";main;spin_sixty 88\n"), std::string::npos) << folded.text();
  for (const char* const format : {"callgrind", "pprof", "speedscope", "firefox", "chrome",
                                   "perfetto", "perf-script", "svg", "csv"}) {
    const Outcome converted = run({SP_PROGRAM, "convert", sampled, "-f", format, "-o", "-"});
    EXPECT_EQ(converted.exit_status(), 0) << format << converted.text();
    EXPECT_FALSE(converted.out.empty()) << format;
  }
  const Outcome callgrind = run({SP_PROGRAM, "convert", counted, "-f", "callgrind", "-o", "-"});
  EXPECT_NE(callgrind.out.find("in_a_triangle"), std::string::npos) << callgrind.text();
}

}  // namespace
}  // namespace sp::end_to_end
