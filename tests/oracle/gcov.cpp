// Exact mode against gcov: one run of a program that counts itself, counted by us as well.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "arch/native.h"
#include "end_to_end/profiled.h"

namespace sp::oracle {
namespace {

using end_to_end::Outcome;
using end_to_end::profile;
using end_to_end::run;
using end_to_end::StartOptions;
using end_to_end::TempDir;
using end_to_end::Words;

using LineCounts = std::map<int, std::uint64_t>;

/// The lines of a listing by `superprofiler annotate`, each with the hits of its instruction that
/// was executed most.
void add_lines_of(const std::string& listing, const std::string& file, LineCounts& lines) {
  const std::regex source(file + ":([0-9]+)(  |$)");
  const std::regex instruction("^ +([0-9]+|\\.) +[0-9a-f]+:  .*");
  std::istringstream in(listing);
  int line = 0;
  std::uint64_t hits = 0;
  std::smatch match;
  for (std::string text; std::getline(in, text);) {
    if (std::regex_search(text, match, source)) {
      line = std::stoi(match[1]);
    } else if (std::regex_match(text, match, instruction)) {
      hits = match[1] == "." ? hits : std::stoull(match[1]);  // of the block that goes on
      lines[line] = std::max(lines[line], hits);
    }
  }
}

class Gcov : public testing::Test {
 protected:
  void SetUp() override {
    if (arch::Native::kName != "x86_64") {
      GTEST_SKIP() << "exact mode is for x86_64";
    }
    if (!end_to_end::has_program("gcc") || !end_to_end::has_program("gcov")) {
      GTEST_SKIP() << "gcc and gcov are not installed";
    }
    start_.directory = directory_.path();
  }

  nlohmann::json counts_of_gcov() {
    const Outcome outcome = run({"gcov", "--json-format", "--stdout", "counted"}, start_);
    return nlohmann::json::parse(outcome.out, nullptr, false);
  }

  TempDir directory_;
  StartOptions start_;
};

TEST_F(Gcov, counts_the_same_calls_and_lines) {
  const std::string source = std::string(SP_SOURCE_DIR) + "/tests/targets/known_counts.c";
  const Outcome compiled =
      run({"gcc", "--coverage", "-O0", "-g", "-c", source, "-o", "counted.o"}, start_);
  const Outcome linked = run({"gcc", "--coverage", "counted.o", "-o", "counted"}, start_);
  ASSERT_EQ(compiled.exit_status() + linked.exit_status(), 0) << compiled.text() << linked.text();
  const auto counted = profile(directory_, {"--single"}, {directory_ / "counted", "12"}, start_);
  ASSERT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();

  const auto by_gcov = counts_of_gcov();
  ASSERT_TRUE(by_gcov.is_object());
  const auto& file = by_gcov.at("files").at(0);
  LineCounts lines;
  int functions = 0;
  for (const auto& function : file.at("functions")) {
    const std::string name = function.at("name");
    const auto calls = counted.files.calls_of(name);
    EXPECT_EQ(calls, function.at("execution_count").get<std::uint64_t>()) << name;
    const Outcome listing = run({SP_PROGRAM, "annotate", directory_ / "run", name});
    EXPECT_EQ(listing.exit_status(), 0) << listing.text();
    add_lines_of(listing.out, "known_counts\\.c", lines);
    ++functions;
  }
  EXPECT_EQ(functions, 6);
  int compared = 0;
  for (const auto& line : file.at("lines")) {
    const int number = line.at("line_number");
    EXPECT_EQ(lines[number], line.at("count").get<std::uint64_t>()) << "line " << number;
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

}  // namespace
}  // namespace sp::oracle
