// One run, converted to every format; the sums are those of the run's own files.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

/// Converts DIR/run and returns the text of the file.
std::string converted(const TempDir& directory, const std::string& format,
                      const std::string& file) {
  const Outcome outcome = run({SP_PROGRAM, "convert", directory / "run", "-f", format});
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("superprofiler: " + format + ": sampled, "), std::string::npos)
      << outcome.err;
  return read_file(directory / ("run/" + file));
}

void check_callgrind(const std::string& text, const RunFiles& files, const std::string& path) {
  std::smatch sums;
  ASSERT_TRUE(std::regex_search(text, sums, std::regex("\nsummary: (\\d+) (\\d+)\n"))) << text;
  EXPECT_EQ(std::stoull(sums[1]), files.run().at("counts").at("instructions"));
  EXPECT_EQ(std::stoull(sums[2]), files.samples());
  if (!has_program("callgrind_annotate")) {
    return;
  }
  const Outcome annotated = run({"callgrind_annotate", "--tree=both", "--auto=no", path});
  EXPECT_EQ(annotated.exit_status(), 0) << annotated.text();
  EXPECT_EQ(annotated.err, "") << "it warns of lines that it does not know";
  EXPECT_NE(annotated.out.find(":spin_sixty"), std::string::npos) << annotated.out;
}

void check_speedscope(const std::string& text, const RunFiles& files) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  ASSERT_TRUE(json.is_object()) << text;
  EXPECT_EQ(json.at("$schema"), "https://www.speedscope.app/file-format-schema.json");
  const auto frames = json.at("shared").at("frames").size();
  const auto& profile = json.at("profiles").at(0);
  EXPECT_EQ(profile.at("type"), "sampled");
  EXPECT_EQ(profile.at("unit"), "none");
  EXPECT_EQ(profile.at("startValue"), 0);
  EXPECT_EQ(profile.at("samples").size(), profile.at("weights").size());
  std::uint64_t sum = 0;
  for (const auto& weight : profile.at("weights")) {
    sum += weight.get<std::uint64_t>();
  }
  EXPECT_EQ(sum, files.samples());
  EXPECT_EQ(profile.at("endValue"), sum);
  for (const auto& stack : profile.at("samples")) {
    for (const auto& frame : stack) {
      EXPECT_LT(frame.get<std::size_t>(), frames);
    }
  }
}

TEST(Convert, gives_each_format_the_sums_of_the_run) {
  const TempDir directory;
  const auto profiled = profile(directory, {}, {target("spin_shares"), "300"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  ASSERT_GT(profiled.files.samples(), 0U);
  check_callgrind(converted(directory, "callgrind", "callgrind.out.run"), profiled.files,
                  directory / "run/callgrind.out.run");
  check_speedscope(converted(directory, "speedscope", "run.speedscope.json"), profiled.files);
  EXPECT_TRUE(converted(directory, "pprof", "run.pb.gz").starts_with("\x1f\x8b"));
  EXPECT_EQ(converted(directory, "folded", "run.folded"),
            read_file(directory / "run/stacks.folded"));
  EXPECT_NE(converted(directory, "svg", "run.svg").find("spin_sixty"), std::string::npos);
  EXPECT_NE(converted(directory, "csv", "run.csv").find(",spin_sixty,"), std::string::npos);
  if (has_program("go")) {
    StartOptions start;
    start.environment = {"HOME=" + directory.path()};
    const Outcome top = run({"go", "tool", "pprof", "-top", "-sample_index=samples", "-nodecount=1",
                             directory / "run/run.pb.gz"},
                            start);
    EXPECT_EQ(top.exit_status(), 0) << top.text();
    EXPECT_NE(top.out.find(" of " + std::to_string(profiled.files.samples()) + " total"),
              std::string::npos)
        << top.out;
  }
}

TEST(Convert, writes_where_it_is_told_and_says_what_is_not_there) {
  const TempDir directory;
  std::filesystem::create_directories(directory / "output/demo");
  write_file(directory / "output/demo/run.json",
             R"({"name": "demo", "samples": {"total": 5, "with_stack": 5}, "modules": []})");
  write_file(directory / "output/demo/functions.tsv",
             "module\tfunction\tsource\tself_samples\ttotal_samples\tcalls\tcalls_kind\n");
  write_file(directory / "output/demo/stacks.folded", "main;f 4\nmain 1");
  const auto convert = [&](Words words) {
    words.insert(words.begin(), {SP_PROGRAM, "convert"});
    StartOptions start;
    start.directory = directory.path();
    return run(words, start);
  };
  const Outcome cut = convert({"-f", "folded", "-o", "-"});  // the newest run
  EXPECT_EQ(cut.exit_status(), 0) << cut.text();
  EXPECT_EQ(cut.out, "main;f 4\n");
  EXPECT_NE(cut.err.find("stacks.folded is damaged in line 2; what stands before that"),
            std::string::npos)
      << cut.err;
  EXPECT_EQ(convert({"output/demo", "-o", "no/such.svg"}).exit_status(), 125);
  EXPECT_EQ(convert({"output", "-f", "csv"}).exit_status(), 125);
  EXPECT_EQ(convert({"output/demo", "-f", "xml"}).exit_status(), 2);
  write_file(directory / "output/demo/run.json",
             R"({"samples": {"total": 0, "with_stack": 0}, "modules": []})");
  const Outcome counted = convert({"output/demo", "-f", "speedscope"});
  EXPECT_EQ(counted.exit_status(), 125);
  EXPECT_NE(counted.err.find("formats that are left: callgrind, pprof, csv"), std::string::npos)
      << counted.err;
}

}  // namespace
}  // namespace sp::end_to_end
