// --coverage=function: what is known of functions is not said of their lines and blocks.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "profiler/coverage_text.h"
#include "profiler/formats/drcov.h"
#include "profiler/formats/lcov.h"
#include "profiler/line_coverage.h"

namespace sp::profiler {
namespace {

using core::Flow;
using Lines = std::map<std::uint32_t, std::uint64_t>;

/// "main" was entered, "unused" was not.
CoverageTable of_functions() {
  CoverageTable table;
  table.modules = {{"/bin/demo", "ab12"}};
  table.functions = {{0, "main", 0x1000, 0x40}, {0, "unused", 0x1040, 0x20}};
  table.rows = {{0, 0x1000, 0x40, 1, "exact", 7, "/src/demo.c:3", true, Flow::next, {}},
                {1, 0x1040, 0x20, 0, "exact", {}, "/src/demo.c:20", true, Flow::next, {}}};
  return table;
}

symbols::FunctionLines lines_of_demo(std::uint32_t /*module*/, std::uint64_t begin,
                                     std::uint64_t /*end*/) {
  if (begin == 0x1000) {
    return {3,
            false,
            false,
            {{0x1000, 0x1010, {"/src/demo.c", 3}},
             {0x1010, 0x1020, {"/src/demo.c", 4}},
             {0x1020, 0x1040, {"/src/inlined.h", 1}}}};
  }
  return {20,
          false,
          false,
          {{0x1040, 0x1050, {"/src/demo.c", 20}}, {0x1050, 0x1060, {"/src/demo.c", 21}}}};
}

TEST(FunctionCoverage, has_no_lines_but_those_of_names) {
  const SourceCoverage sources = source_coverage(of_functions(), lines_of_demo);
  ASSERT_EQ(sources.files.size(), 1U);  // nothing is known of what was inlined
  EXPECT_EQ(sources.files[0].lines, (Lines{{3, 1}, {20, 0}}));
  EXPECT_EQ(sources.files[0].functions.size(), 2U);
  EXPECT_EQ(sources.functions_of_one_line, 2U);
  std::ostringstream out;
  write_lcov(out, sources);
  EXPECT_EQ(out.str(),
            "TN:\nSF:/src/demo.c\nFN:3,main\nFN:20,unused\nFNDA:1,main\nFNDA:0,unused\n"
            "FNF:2\nFNH:1\nBRF:0\nBRH:0\nDA:3,1\nDA:20,0\nLF:2\nLH:1\nend_of_record\n");
}

TEST(FunctionCoverage, joined_with_blocks_has_the_lines_of_these) {
  CoverageTable table = of_functions();
  table.rows[1].is_function = false;
  const SourceCoverage sources = source_coverage(table, lines_of_demo);
  EXPECT_EQ(sources.files.at(0).lines, (Lines{{3, 1}, {20, 0}, {21, 0}}));
  EXPECT_EQ(sources.functions_of_one_line, 1U);
}

TEST(FunctionCoverage, of_a_program_that_reached_nothing_has_its_lines) {
  CoverageTable table = of_functions();
  table.rows[0].hits = 0;
  const SourceCoverage sources = source_coverage(table, lines_of_demo);
  EXPECT_EQ(sources.files.at(0).lines, (Lines{{3, 0}, {4, 0}, {20, 0}, {21, 0}}));
}

TEST(FunctionCoverage, says_what_shows_lines) {
  const CoverageTotals totals = totals_of(of_functions());
  EXPECT_TRUE(totals.only_functions);
  const SourceCoverage sources = source_coverage(of_functions(), lines_of_demo);
  EXPECT_EQ(coverage_text(totals, sources.totals()),
            "coverage: 1 of 2 functions entered (50.0 %); which blocks and lines: "
            "--coverage=block");
}

TEST(FunctionCoverage, in_drcov_is_the_first_byte_of_a_function) {
  const std::vector<ImageRange> images = {{0x1000, 0x20000}};
  std::ostringstream out;
  EXPECT_EQ(write_drcov(out, of_functions(), images), 1U);
  EXPECT_TRUE(out.str().ends_with(std::string("1 bbs\n\0\0\0\0\x01\0\0\0", 14))) << out.str();
}

}  // namespace
}  // namespace sp::profiler
