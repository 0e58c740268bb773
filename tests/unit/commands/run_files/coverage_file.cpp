#include "commands/run_files/coverage_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "profiler/coverage_merge.h"
#include "profiler/formats/cobertura.h"
#include "profiler/formats/coverage_tsv.h"
#include "profiler/formats/drcov.h"
#include "profiler/formats/lcov.h"
#include "profiler/line_coverage.h"
#include "unit/profiler/temporary_directory.h"

namespace sp::run_files {
namespace {

using core::Flow;
using profiler::CoverageTable;
using Files = std::set<std::pair<std::string, std::string>>;

CoverageTable of_demo() {
  CoverageTable table;
  table.modules = {{"/bin/demo", "ab12"}, {"/lib/libx.so", ""}};
  table.functions = {
      {0, "main", 0x1000, 0x20}, {0, "a\tb(int)", 0x1040, 0x20}, {1, "f", 0x100, 0x10}};
  table.rows = {{0, 0x1000, 0x10, 1, "exact", 7, "/src/d.c:3", false, Flow::branch, 0x1000},
                {0, 0x1010, 0x10, 0, "exact-until:2.000", {}, "", false, Flow::ret, {}},
                {1, 0x1040, 0x20, 1, "exact", {}, "/src/d.c:9", true, Flow::next, {}},
                {2, 0x100, 0x10, 1, "known", 4, "", false, Flow::stop, {}}};
  return table;
}

std::string text_of(const CoverageTable& table) {
  std::ostringstream out;
  profiler::write_coverage_tsv(out, table);
  return out.str();
}

class CoverageFile : public testing::Test {
 protected:
  /// Reads a coverage.tsv of this text; what was said is in notes_.
  core::Result<CoverageTable> read(const std::string& text) {
    notes_.clear();
    std::ofstream(path_, std::ios::binary) << text;
    return read_coverage(path_, notes_);
  }

  profiler::test::TemporaryDirectory directory_;
  std::string path_ = directory_.path() + "/coverage.tsv";
  std::vector<std::string> notes_;
};

TEST_F(CoverageFile, is_read_as_it_was_written) {
  const auto table = read(text_of(of_demo()));
  ASSERT_TRUE(table);
  EXPECT_TRUE(notes_.empty());
  EXPECT_EQ(text_of(*table), text_of(of_demo()));
  EXPECT_EQ(totals_of(*table).watched_partly, 1U);
}

TEST_F(CoverageFile, is_read_up_to_the_damage_which_is_said) {
  const std::string good = text_of(of_demo());
  std::size_t third = good.find('\n');
  third = good.find('\n', third + 1);
  std::string bad = good;
  bad[bad.find("0x", third) + 1] = '?';
  const auto table = read(bad);
  ASSERT_TRUE(table);
  EXPECT_EQ(notes_, std::vector<std::string>{path_ + " is damaged in line 3"});
  EXPECT_EQ(table->rows.size(), 1U);
  EXPECT_FALSE(read("no\tcoverage\n"));
  EXPECT_FALSE(read(""));
}

/// Gives a table to everything that takes one.
void use(const CoverageTable& table) {
  const std::vector<CoverageTable> twice = {table, table};
  const CoverageTable both = profiler::merged(twice).table;
  const std::vector<profiler::ImageRange> images(both.modules.size(), {0, 0x1080});
  const auto sources =
      source_coverage(both, [](std::uint32_t, std::uint64_t begin, std::uint64_t end) {
        const std::uint64_t middle = begin + (end - begin) / 2;
        return symbols::FunctionLines{
            3, false, true, {{begin, middle, {"/d.c", 3}}, {middle, end, {"/d.c", 4}}}};
      });
  std::ostringstream out;
  profiler::write_drcov(out, both, images);
  profiler::write_lcov(out, sources);
  profiler::write_cobertura(out, sources, {});
  KnownCoverage known;
  known.add("a", both);
  EXPECT_LE(known.reached_in("ab12").size(), both.rows.size());
  EXPECT_LE(totals_of(both).reached, both.rows.size());
}

TEST_F(CoverageFile, is_read_wherever_it_is_cut) {
  const std::string good = text_of(of_demo());
  for (std::size_t size = good.find('\n') + 1; size < good.size(); ++size) {
    const auto table = read(good.substr(0, size));
    ASSERT_TRUE(table) << size;
    EXPECT_EQ(notes_.empty(), good[size - 1] == '\n') << size;
    const auto ends = std::count(good.begin(), good.begin() + static_cast<long>(size), '\n');
    EXPECT_EQ(table->rows.size(), static_cast<std::size_t>(ends - 1)) << size;
    use(*table);
  }
}

TEST_F(CoverageFile, is_read_whichever_byte_is_changed) {
  const std::string good = text_of(of_demo());
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int change : {0x01, 0x04, 0x10, 0x80, 0xFF}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ change);
      if (const auto table = read(bad)) {
        use(*table);
      }
    }
  }
}

TEST_F(CoverageFile, is_read_whatever_its_numbers_are) {
  const std::string good = text_of(of_demo());
  for (const std::string value : {"0", "1", "0xFFFFFFFFFFFF", "0x1000000000000", "0x100000000",
                                  "18446744073709551615", "99999999999999999999", "-1", ""}) {
    for (std::size_t at = good.find('\n'); at + 1 < good.size();) {
      const std::size_t end = good.find_first_of("\t\n", at + 1);
      const auto table = read(good.substr(0, at + 1) + value + good.substr(end));
      ASSERT_TRUE(table);
      use(*table);
      at = end;
    }
  }
}

TEST(KnownCoverage, is_that_of_the_same_build) {
  KnownCoverage known;
  known.add("out/a", of_demo());
  const std::vector<core::ReachedRange> expected = {{0x1000, 0x1010}, {0x1040, 0x1041}};
  EXPECT_EQ(known.reached_in("ab12"), expected);
  EXPECT_TRUE(known.reached_in("cd34").empty());
  EXPECT_TRUE(known.reached_in("").empty());  // files without an identity may be any
}

TEST(KnownCoverage, says_that_it_is_of_another_build) {
  KnownCoverage known;
  known.add("out/a", of_demo());
  EXPECT_TRUE(known.other_builds("/bin/demo", "ab12").empty());
  EXPECT_TRUE(known.other_builds("/bin/other", "cd34").empty());
  EXPECT_EQ(known.other_builds("/bin/demo", "cd34"),
            std::vector<std::string>{
                "out/a has another build of /bin/demo: nothing of this one is known"});
}

TEST(KnownCoverage, says_that_none_of_its_files_was_there) {
  KnownCoverage known;
  known.add("out/a", of_demo());
  EXPECT_TRUE(known.of_other_files({}).empty());  // nothing was covered at all
  EXPECT_TRUE(known.of_other_files(Files{{"/tmp/copy", "ab12"}}).empty());
  EXPECT_TRUE(
      known.of_other_files(Files{{"/bin/demo", "cd34"}}).empty());  // other_builds() says it
  EXPECT_EQ(known.of_other_files(Files{{"/bin/new", "cd34"}}),
            std::vector<std::string>{
                "out/a knows none of this run's files; it is of a build of /bin/demo"});
}

}  // namespace
}  // namespace sp::run_files
