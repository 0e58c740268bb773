// The lines of --coverage: those of gcov, read by lcov, merged and converted.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "end_to_end/coverage_support.h"

namespace sp::end_to_end {
namespace {

using Line = std::pair<std::string, int>;  // a file's name and its line
using Lines = std::map<Line, long>;

Lines lines_of_lcov(const std::string& path) {
  Lines lines;
  std::string file;
  std::istringstream in(read_file(path));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("SF:")) {
      file = line.substr(line.rfind('/') + 1);
    } else if (line.starts_with("DA:")) {
      const std::size_t comma = line.find(',');
      lines[{file, std::stoi(line.substr(3, comma - 3))}] += std::stol(line.substr(comma + 1));
    }
  }
  return lines;
}

/// Lines that are nothing but a label, which line tables do not have, or a brace: where a function
/// returns, that is a line for gcov in some functions and for line tables in others.
std::set<int> labels_in(const std::string& path) {
  std::set<int> labels;
  std::istringstream in(read_file(path));
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const bool is_label = line.ends_with(':') && line.find('?') == std::string::npos;
    if (is_label || line.find_first_not_of(" };") == std::string::npos) {
      labels.insert(number);
    }
  }
  return labels;
}

std::set<int> executed_in(const Lines& lines, const std::string& file) {
  const std::set<int> labels = labels_in(std::string(SP_SOURCE_DIR) + "/tests/targets/" + file);
  std::set<int> executed;
  for (const auto& [line, hits] : lines) {
    if (line.first == file && hits > 0 && !labels.contains(line.second)) {
      executed.insert(line.second);
    }
  }
  return executed;
}

Lines lines_of_gcov(const std::string& text) {
  Lines lines;
  const auto report = nlohmann::json::parse(text, nullptr, false);
  for (const auto& file : report.at("files")) {
    const std::string path = file.at("file");
    for (const auto& line : file.at("lines")) {
      lines[{path.substr(path.rfind('/') + 1), line.at("line_number")}] +=
          line.at("count").get<long>();
    }
  }
  return lines;
}

/// Compiles one of the targets' sources at -O0, once for gcov.
void expect_lines_of_gcov(const std::string& compiler, const std::string& name, const Words& args) {
  const TempDir directory;
  const std::string source = std::string(SP_SOURCE_DIR) + "/tests/targets/" + name;
  StartOptions there;
  there.directory = directory.path();
  for (const std::string kind : {"plain", "gcov"}) {
    Words words{compiler, "-O0", "-g", "-pthread", "-o", directory / kind, source};
    if (kind == "gcov") {
      words.insert(words.begin() + 1, "--coverage");
    }
    ASSERT_EQ(run(words, there).exit_status(), 0);
  }
  Words gcov{directory / "gcov"};
  gcov.insert(gcov.end(), args.begin(), args.end());
  Words plain{directory / "plain"};
  plain.insert(plain.end(), args.begin(), args.end());
  const Outcome alone = run(gcov, there);
  const Outcome report =
      run({"gcov", "-j", "-t", "gcov-" + name.substr(0, name.find('.')) + ".gcda"}, there);
  ASSERT_EQ(report.exit_status(), 0) << report.err;
  const auto covered = profile(directory, {"--coverage"}, plain);
  EXPECT_EQ(covered.outcome.wait_status, alone.wait_status) << covered.outcome.text();
  EXPECT_EQ(executed_in(lines_of_lcov(directory / "run/coverage.info"), name),
            executed_in(lines_of_gcov(report.out), name))
      << name;
}

TEST(CoverageLines, has_the_lines_of_gcov) {
  if (!has_program("gcov") || !has_program("g++")) {
    GTEST_SKIP() << "no gcov here";
  }
  expect_lines_of_gcov("g++", "covered_ways.cpp", {"x"});
  expect_lines_of_gcov("g++", "covered_ways.cpp", {"x", "7", "y"});
  expect_lines_of_gcov("gcc", "known_counts.c", {"1"});
  expect_lines_of_gcov("gcc", "recursion.c", {});
}

TEST(CoverageLines, is_read_by_lcov_and_by_a_validating_parser) {
  const TempDir directory;
  const auto run_of =
      profile(directory, {"--coverage", "--source-map", std::string(SP_SOURCE_DIR) + "=/elsewhere"},
              {target("covered_ways"), "x"});
  ASSERT_EQ(run_of.outcome.exit_status(), 0) << run_of.outcome.text();
  EXPECT_NE(read_file(directory / "run/coverage.info").find("SF:/elsewhere/tests/targets/cover"),
            std::string::npos);
  // Headers of the compiler may be here or not.
  EXPECT_TRUE(std::regex_search(
      run_of.outcome.text(), std::regex("source files of the report are not here \\([0-9]+ of ")))
      << run_of.outcome.text();
  if (has_program("lcov")) {
    const Outcome summary = run(
        {"lcov", "--summary", directory / "run/coverage.info", "--rc", "lcov_branch_coverage=1"});
    EXPECT_EQ(summary.exit_status(), 0) << summary.text();
    EXPECT_NE(summary.out.find("lines......: "), std::string::npos) << summary.out;
    EXPECT_EQ(summary.out.find("no data found"), std::string::npos) << summary.out;
    const Outcome sum = run({"lcov", "-q", "-a", directory / "run/coverage.info", "-a",
                             directory / "run/coverage.info", "-o", directory / "sum.info"});
    EXPECT_EQ(sum.exit_status(), 0) << sum.text();
  }
  if (has_program("xmllint")) {
    const Outcome valid = run({"xmllint", "--noout", "--nonet", "--dtdvalid",
                               std::string(SP_SOURCE_DIR) + "/tests/end_to_end/cobertura.dtd",
                               directory / "run/cobertura.xml"});
    EXPECT_EQ(valid.exit_status(), 0) << valid.text();
  }
}

TEST(CoverageLines, is_converted_shown_and_merged) {
  const TempDir directory;
  const auto one = profile(directory, {"--coverage"}, {target("covered_ways")});
  ASSERT_EQ(one.outcome.exit_status(), 0) << one.outcome.text();
  const TempDir other;
  const auto two = profile(other, {"--coverage"}, {target("covered_ways"), "x", "9", "y"});
  ASSERT_EQ(two.outcome.exit_status(), 0) << two.outcome.text();
  const Outcome merged = run(
      {SP_PROGRAM, "coverage", "merge", directory / "run", other / "run", "-o", directory / "all"});
  ASSERT_EQ(merged.exit_status(), 0) << merged.text();
  const auto all = covered_blocks(directory / "all/coverage.tsv");
  EXPECT_GT(reached(all), reached(covered_blocks(directory / "run/coverage.tsv")));
  EXPECT_GE(reached(all), reached(covered_blocks(other / "run/coverage.tsv")));
  EXPECT_TRUE(is_entered(all, "Dot::area"));
  const Outcome shown = run({SP_PROGRAM, "coverage", directory / "all"});
  EXPECT_EQ(shown.exit_status(), 0) << shown.text();
  EXPECT_NE(shown.out.find("covered_ways.cpp\n"), std::string::npos) << shown.out;
  const Outcome lcov = run({SP_PROGRAM, "convert", directory / "run", "-f", "lcov", "-o", "-"});
  EXPECT_EQ(lcov.out, read_file(directory / "run/coverage.info"));
  const Outcome drcov = run({SP_PROGRAM, "convert", directory / "run", "-f", "drcov"});
  EXPECT_EQ(drcov.exit_status(), 0) << drcov.text();
  EXPECT_NE(drcov.err.find(" blocks\n"), std::string::npos) << drcov.text();
  // A merge is no run, but has the same formats.
  const Outcome of_merge = run({SP_PROGRAM, "convert", directory / "all", "-f", "lcov", "-o", "-"});
  EXPECT_EQ(of_merge.out, read_file(directory / "all/coverage.info")) << of_merge.err;
  const Outcome blocks = run({SP_PROGRAM, "convert", directory / "all", "-f", "drcov"});
  EXPECT_EQ(blocks.exit_status(), 0) << blocks.text();
  EXPECT_NE(read_file(directory / "all/all.drcov"), "");
}

TEST(CoverageLines, are_not_written_where_there_are_none) {
  if (!has_program("strip")) {
    GTEST_SKIP() << "no strip here";
  }
  const TempDir directory;
  const std::string program = directory / "program";
  ASSERT_EQ(run({"strip", "-o", program, target("known_counts")}).exit_status(), 0);
  const auto stripped = profile(directory, {"--coverage"}, {program, "1"});
  ASSERT_EQ(stripped.outcome.exit_status(), 0) << stripped.outcome.text();
  const auto convert = [&](const std::string& format) {
    return run({SP_PROGRAM, "convert", directory / "run", "-f", format});
  };
  for (const std::string format : {"lcov", "cobertura"}) {
    const Outcome without_lines = convert(format);
    EXPECT_EQ(without_lines.exit_status(), 125) << without_lines.text();
    EXPECT_NE(without_lines.err.find("no file that was covered has debug information"),
              std::string::npos)
        << without_lines.err;
    EXPECT_EQ(std::count(without_lines.err.begin(), without_lines.err.end(), '\n'), 1);
  }
  EXPECT_EQ(convert("drcov").exit_status(), 0);
  // Another build in its place.
  ASSERT_EQ(run({"strip", "-o", program, target("recursion")}).exit_status(), 0);
  for (const std::string format : {"lcov", "cobertura", "drcov"}) {
    const Outcome replaced = convert(format);
    EXPECT_EQ(replaced.exit_status(), 125) << replaced.text();
    EXPECT_NE(replaced.err.find(program + " is not there as it was recorded"), std::string::npos)
        << replaced.err;
    EXPECT_EQ(std::count(replaced.err.begin(), replaced.err.end(), '\n'), 1) << replaced.err;
  }
}

std::set<int> numbers_in(const std::string& lcov, const std::string& file) {
  std::set<int> numbers;
  for (const auto& [line, hits] : lines_of_lcov(lcov)) {
    if (line.first == file) {
      numbers.insert(line.second);
    }
  }
  return numbers;
}

TEST(CoverageLines, are_the_same_whatever_ran_and_however_it_was_seen) {
  if (!has_program("c++")) {
    GTEST_SKIP() << "no compiler here";
  }
  const TempDir directory;
  const std::string name = "covered_ways.cpp";
  const std::string program = directory / "program";
  const std::string source = std::string(SP_SOURCE_DIR) + "/tests/targets/" + name;
  ASSERT_EQ(run({"c++", "-O0", "-g", "-pthread", "-o", program, source}).exit_status(), 0);
  const auto some = profile(directory, {"--coverage"}, {program});
  ASSERT_EQ(some.outcome.exit_status(), 0) << some.outcome.text();
  const std::set<int> lines = numbers_in(directory / "run/coverage.info", name);
  EXPECT_GT(lines.size(), 50U);
  const TempDir other;
  const auto more = profile(other, {"--coverage"}, {program, "x", "7", "y"});
  ASSERT_EQ(more.outcome.exit_status(), 0) << more.outcome.text();
  EXPECT_EQ(numbers_in(other / "run/coverage.info", name), lines);
  const TempDir third;
  const auto counted = profile(third, {"-a", "--no-copies"}, {program});
  ASSERT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
  const Outcome written = run({SP_PROGRAM, "coverage", "--counts", third / "run"});
  ASSERT_EQ(written.exit_status(), 0) << written.text();
  EXPECT_EQ(numbers_in(third / "run/coverage.info", name), lines);
}

/// The counts of lcov's file are those of gcov, but for lines where line tables differ.
TEST(CoverageLines, has_the_counts_of_gcov_with_exact_blocks) {
  if (!has_program("gcov") || !has_program("gcc")) {
    GTEST_SKIP() << "no gcov here";
  }
  const TempDir directory;
  const std::string source = std::string(SP_SOURCE_DIR) + "/tests/targets/known_counts.c";
  StartOptions there;
  there.directory = directory.path();
  ASSERT_EQ(run({"gcc", "-O0", "-g", "-o", directory / "plain", source}, there).exit_status(), 0);
  ASSERT_EQ(run({"gcc", "--coverage", "-O0", "-g", "-o", directory / "gcov", source}, there)
                .exit_status(),
            0);
  ASSERT_EQ(run({directory / "gcov", "5"}, there).exit_status(), 0);
  const Lines expected =
      lines_of_gcov(run({"gcov", "-j", "-t", "gcov-known_counts.gcda"}, there).out);
  const auto counted = profile(directory, {"-a", "--no-copies"}, {directory / "plain", "5"});
  ASSERT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
  const Outcome written =
      run({SP_PROGRAM, "coverage", "--counts", directory / "run", "-o", directory / "counts"});
  ASSERT_EQ(written.exit_status(), 0) << written.text();
  const Lines lines = lines_of_lcov(directory / "counts/coverage.info");
  const std::set<int> labels = labels_in(source);
  std::size_t compared = 0;
  for (const auto& [line, hits] : expected) {
    const auto found = lines.find(line);
    if (found != lines.end() && !labels.contains(line.second)) {
      EXPECT_EQ(found->second, hits) << line.first << ':' << line.second;
      ++compared;
    }
  }
  EXPECT_GT(compared, 20U);
  if (has_program("genhtml")) {
    const Outcome html = run({"genhtml", "-q", "--branch-coverage", "-o", directory / "html",
                              directory / "counts/coverage.info"});
    EXPECT_EQ(html.exit_status(), 0) << html.text();
    EXPECT_NE(read_file(directory / "html/index.html").find("targets"), std::string::npos);
  }
  const Outcome covered = run({SP_PROGRAM, "coverage", "--counts", directory / "counts"});
  EXPECT_EQ(covered.exit_status(), 125) << covered.text();
}

}  // namespace
}  // namespace sp::end_to_end
