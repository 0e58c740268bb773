#include "profiler/coverage.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "golden.h"
#include "probed.h"
#include "profiler/coverage_merge.h"
#include "profiler/coverage_text.h"
#include "profiler/formats/cobertura.h"
#include "profiler/formats/coverage_tsv.h"
#include "profiler/formats/drcov.h"
#include "profiler/formats/lcov.h"
#include "profiler/line_coverage.h"

namespace sp::profiler {
namespace {

using core::Flow;
using test::at;
using test::block;
using test::Probed;
using test::second;
using test::until;
using Row = CoverageTable::Row;

/// Functions by their starts.
class Names final : public Namer {
 public:
  void add_module(const core::Module& /*module*/) override {}
  [[nodiscard]] const std::vector<symbols::NamedFrame>& name(core::ModuleOffset where,
                                                             bool /*is_return*/) override {
    const bool is_main = where.offset < 0x1100;
    frames_ = {{is_main ? "main" : "helper", true, is_main ? 0x1000U : 0x1100U, false,
                symbols::SourceLine{"/src/demo.c", static_cast<std::uint32_t>(where.offset)}}};
    return frames_;
  }

 private:
  std::vector<symbols::NamedFrame> frames_;
};

core::ProbeCountsTaken told(std::vector<core::ProbedBlock<core::ModuleOffset>> blocks) {
  core::ProbeCountsTaken taken{{4711, 1}, {}};
  taken.code.blocks = std::move(blocks);
  taken.code.functions = {{at(0x1000), 0x100}, {at(0x1100), 0x40}};
  return taken;
}

CoverageTable table_of(const std::vector<core::ProbeCountsTaken>& parts,
                       const CountsContext& context = {}) {
  ProbedProfile profile;
  for (const core::ProbeCountsTaken& part : parts) {
    profile.add(part);
  }
  Names names;
  return coverage_table(profile, names, context);
}

std::vector<std::uint64_t> reached_in(const CoverageTable& table) {
  std::vector<std::uint64_t> reached;
  for (const Row& row : table.rows) {
    if (row.hits > 0) {
      reached.push_back(row.offset);
    }
  }
  return reached;
}

TEST(Coverage, has_what_was_reached_and_what_was_not) {
  const CoverageTable table = table_of({told({block(0x1000, 8, 1), block(0x1008, 8, 0)})});
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(reached_in(table), std::vector<std::uint64_t>{0x1000});
  EXPECT_EQ(table.rows[0].first_us, 1'000'000U);
  // A function that was never entered is one row.
  EXPECT_EQ(table.rows[2].offset, 0x1100U);
  EXPECT_EQ(table.rows[2].size, 0x40U);
  EXPECT_EQ(table.functions[table.rows[2].function].name, "helper");
  const CoverageTotals totals = totals_of(table);
  EXPECT_EQ(totals.functions, 2U);
  EXPECT_EQ(totals.entered, 1U);
  EXPECT_EQ(totals.blocks, 2U);
  EXPECT_EQ(totals.reached, 1U);
}

TEST(Coverage, a_part_of_a_larger_block_was_reached_with_it) {
  // One process has executed 0x1000..0x1010 as one block, another has it in two.
  const CoverageTable table =
      table_of({told({block(0x1000, 0x10, 1)}), told({block(0x1000, 8, 0), block(0x1008, 8, 0)})});
  EXPECT_EQ(reached_in(table), (std::vector<std::uint64_t>{0x1000, 0x1008}));
}

TEST(Coverage, says_for_how_long_a_block_was_not_reached) {
  CountsContext context;
  context.counted.since = second(2);
  const CoverageTable table = table_of(
      {told({block(0x1000, 8, 1), until(5, block(0x1008, 8, 0)), block(0x1010, 8, 0)})}, context);
  EXPECT_EQ(table.rows[0].kind, "exact");
  EXPECT_EQ(table.rows[1].kind, "exact-since:2.000,until:5.000");
  EXPECT_EQ(table.rows[2].kind, "exact-since:2.000");
  const CoverageTotals totals = totals_of(table);
  EXPECT_EQ(totals.kind, "exact-since:2.000,until:5.000");  // that of all zeros together
  EXPECT_EQ(totals.watched_partly, 1U);
  EXPECT_TRUE(coverage_text(totals, std::nullopt)
                  .ends_with("; 1 that were not reached were not watched to the end "
                             "(exact-since:2.000,until:5.000)"));
}

TEST(Coverage, says_that_nothing_was_watched) {
  EXPECT_TRUE(coverage_text(totals_of(table_of({})), std::nullopt)
                  .starts_with("coverage: no function was watched: "));
}

TEST(Coverage, an_earlier_runs_blocks_are_known) {
  auto known = block(0x1000, 8, 0);
  known.is_known = true;
  const CoverageTable table = table_of({told({known, block(0x1008, 8, 1)})});
  EXPECT_EQ(table.rows[0].kind, "known");
  EXPECT_EQ(table.rows[0].hits, 1U);
  EXPECT_EQ(table.rows[1].kind, "exact");
}

CoverageTable two_functions() {
  CoverageTable table;
  table.modules = {{"/bin/demo", "ab12"}, {"/lib/libx <1>.so", ""}};
  table.functions = {
      {0, "main", 0x1000, 0x40}, {0, "helper(int, char&)", 0x1040, 0x20}, {1, "f", 0x100, 0x10}};
  table.rows = {{0, 0x1000, 0x10, 1, "exact", 7, "/src/demo.c:3", false, Flow::branch, 0x1020},
                {0, 0x1010, 0x10, 0, "exact", {}, "/src/demo.c:4", false, Flow::jump, 0x1030},
                {0, 0x1020, 0x10, 1, "exact", 9, "/src/demo.c:5", false, Flow::next, {}},
                {0, 0x1030, 0x10, 1, "exact", 9, "/src/demo.c:7", false, Flow::ret, {}},
                {1, 0x1040, 0x20, 0, "exact", {}, "/src/demo.h:1", true, Flow::next, {}},
                {2, 0x100, 0x10, 1, "exact-since:1.000", 4, "", false, Flow::ret, {}}};
  return table;
}

symbols::FunctionLines lines_of_two(std::uint32_t module, std::uint64_t begin, std::uint64_t) {
  if (module == 1) {
    return {};
  }
  const std::string file = begin == 0x1000 ? "/src/demo.c" : "/src/demo.h";
  if (begin == 0x1040) {
    return {1, false, false, {{0x1040, 0x1060, {file, 1}}}};
  }
  return {3,
          false,
          true,
          {{0x1000, 0x1010, {file, 3}},
           {0x1010, 0x1010, {file, 6}},
           {0x1010, 0x1020, {file, 4}},
           {0x1020, 0x1038, {file, 5}},
           {0x1038, 0x103A, {"/src/demo.h", 1}},
           {0x103A, 0x1040, {file, 8}, true}}};
}

TEST(LineCoverage, is_that_of_the_lines_blocks) {
  const SourceCoverage sources = source_coverage(two_functions(), lines_of_two);
  ASSERT_EQ(sources.files.size(), 2U);
  using Lines = std::map<std::uint32_t, std::uint64_t>;
  // 3 has the function's name; 8 is the brace behind its return; 6 has no instruction.
  EXPECT_EQ(sources.files[0].lines, (Lines{{3, 1}, {4, 0}, {5, 1}, {6, 0}}));
  EXPECT_EQ(sources.files[1].lines, (Lines{{1, 1}}));  // inlined, and of a function not entered
  ASSERT_EQ(sources.files[0].functions.size(), 1U);
  EXPECT_EQ(sources.files[0].functions[0].line, 3U);
  EXPECT_EQ(sources.functions_without_lines, 1U);
  ASSERT_EQ(sources.files[0].branches.size(), 2U);
  EXPECT_EQ(sources.files[0].branches[0].hits, 0U);  // goes on
  EXPECT_EQ(sources.files[0].branches[1].hits, 1U);  // is taken
}

TEST(LineCoverage, is_not_executed_where_only_a_later_block_of_its_row_was_reached) {
  CoverageTable table = two_functions();
  // Line 5's block was not reached; one that begins later in its row was, from elsewhere.
  table.rows[2] = {0, 0x1020, 0x8, 0, "exact", {}, "", false, Flow::jump, 0x1038};
  table.rows[3] = {0, 0x1028, 0x18, 1, "exact", 9, "", false, Flow::ret, {}};
  EXPECT_EQ(source_coverage(table, lines_of_two).files[0].lines.at(5), 0U);
  table.rows[2].hits = 1;
  table.rows[3].hits = 0;
  EXPECT_EQ(source_coverage(table, lines_of_two).files[0].lines.at(5), 1U);
  // Nothing is known of the row's beginning, so what follows is what there is.
  table.rows[3].hits = 7;
  table.rows.erase(table.rows.begin() + 2);
  EXPECT_EQ(source_coverage(table, lines_of_two).files[0].lines.at(5), 7U);
}

TEST(LineCoverage, is_executed_where_a_block_behind_its_nop_was_reached) {
  CoverageTable table = two_functions();
  table.rows[2] = {0, 0x1020, 0x1, 0, "exact", {}, "", false, Flow::next, {}};
  table.rows[3] = {0, 0x1021, 0x1f, 1, "exact", 9, "", false, Flow::ret, {}};
  const auto with_nops = [](std::uint32_t nops) {
    return [nops](auto module, auto begin, auto end) {
      symbols::FunctionLines lines = lines_of_two(module, begin, end);
      for (symbols::LineRange& row : lines.rows) {
        row.nops = row.source.line == 5 ? nops : 0;
      }
      return lines;
    };
  };
  EXPECT_EQ(source_coverage(table, with_nops(0)).files[0].lines.at(5), 0U);
  EXPECT_EQ(source_coverage(table, with_nops(1)).files[0].lines.at(5), 1U);
}

TEST(LineCoverage, of_a_row_that_continues_a_line_is_that_lines) {
  const auto continued = [](auto module, auto begin, auto end) {
    symbols::FunctionLines lines = lines_of_two(module, begin, end);
    if (begin == 0x1000) {
      lines.declared = 2;  // 3 is the brace below
      lines.rows[0].end = 0x1008;
      lines.rows.insert(
          lines.rows.begin() + 1,
          {.begin = 0x1008, .end = 0x1010, .source = lines.rows[0].source, .continues = true});
      lines.rows.insert(
          lines.rows.begin() + 4,
          {.begin = 0x1018, .end = 0x1020, .source = lines.rows[3].source, .continues = true});
    }
    return lines;
  };
  CoverageTable table = two_functions();
  table.rows[1].size = 8;  // not reached; the second row of its line is
  table.rows.insert(table.rows.begin() + 2,
                    {0, 0x1018, 0x8, 1, "exact", 8, "", false, Flow::jump, 0x1030});
  const SourceCoverage sources = source_coverage(table, continued);
  using Lines = std::map<std::uint32_t, std::uint64_t>;
  EXPECT_EQ(sources.files[0].lines, (Lines{{2, 1}, {4, 1}, {5, 1}, {6, 0}}));
}

TEST(LineCoverage, gives_an_opening_brace_to_the_functions_name) {
  const auto below_its_name = [](auto module, auto begin, auto end) {
    symbols::FunctionLines lines = lines_of_two(module, begin, end);
    lines.declared = begin == 0x1000 ? 2 : lines.declared;
    return lines;
  };
  const SourceCoverage sources = source_coverage(two_functions(), below_its_name);
  using Lines = std::map<std::uint32_t, std::uint64_t>;
  EXPECT_EQ(sources.files[0].lines, (Lines{{2, 1}, {4, 0}, {5, 1}, {6, 0}}));
  EXPECT_TRUE(sources.files[0].branches.empty());  // of a line that is not there
}

TEST(LineCoverage, has_no_branch_whose_ways_others_come_to) {
  CoverageTable table = two_functions();
  table.rows[1].leads_to = 0x1020;
  EXPECT_TRUE(source_coverage(table, lines_of_two).files[0].branches.empty());
  table = two_functions();
  table.rows[3].flow = Flow::indirect_jump;  // anywhere
  EXPECT_TRUE(source_coverage(table, lines_of_two).files[0].branches.empty());
}

TEST(LineCoverage, leaves_out_what_the_compiler_has_added) {
  const SourceCoverage sources =
      source_coverage(two_functions(), [](auto module, auto begin, auto end) {
        symbols::FunctionLines lines = lines_of_two(module, begin, end);
        lines.is_artificial = begin == 0x1000;
        return lines;
      });
  ASSERT_EQ(sources.files.size(), 1U);
  EXPECT_EQ(sources.files[0].path, "/src/demo.h");
}

TEST(LineCoverage, finds_sources_elsewhere) {
  SourceCoverage sources = source_coverage(two_functions(), lines_of_two);
  const auto notes = map_sources(sources, {{"/sr", "/x"}, {"/src", "/home/me"}, {"/build", "/"}});
  EXPECT_EQ(notes, (std::vector<std::string>{"--source-map /sr=/x: no source is in /sr",
                                             "--source-map /build=/: no source is in /build"}));
  EXPECT_EQ(sources.files[0].path, "/home/me/demo.c");
}

template <typename Write>
std::string text_of(const Write& write) {
  std::ostringstream out;
  write(out);
  return out.str();
}

TEST(CoverageFormats, are_as_their_readers_expect) {
  const CoverageTable table = two_functions();
  const SourceCoverage sources = source_coverage(table, lines_of_two);
  test::expect_golden("coverage.tsv",
                      text_of([&](std::ostream& out) { write_coverage_tsv(out, table); }));
  test::expect_golden("coverage.info",
                      text_of([&](std::ostream& out) { write_lcov(out, sources); }));
  test::expect_golden(
      "cobertura.xml", text_of([&](std::ostream& out) {
        write_cobertura(out, sources, {"1.2.3", std::chrono::system_clock::time_point{}});
      }));
}

TEST(Drcov, has_the_blocks_that_were_reached) {
  CoverageTable table = two_functions();
  table.rows[3].size = 0x10005;  // more than the format's 16 bits hold
  table.rows.push_back({2, 0x2000, 0x10, 1, "exact", 4, "", false, Flow::ret, {}});  // not in it
  const std::vector<ImageRange> images = {{0x1000, 0x20000}, {0, 0x1000}};
  std::uint64_t blocks = 0;
  const std::string text =
      text_of([&](std::ostream& out) { blocks = write_drcov(out, table, images); });
  EXPECT_EQ(blocks, 5U);
  EXPECT_TRUE(text.starts_with("DRCOV VERSION: 2\n"));
  EXPECT_NE(
      text.find("  0, 0x0000000000001000, 0x0000000000020000, 0x0000000000000000, /bin/demo\n"),
      std::string::npos);
  const std::string rows = text.substr(text.find("5 bbs\n") + 6);
  EXPECT_EQ(rows.substr(0, 8), std::string("\0\0\0\0\x10\0\0\0", 8));
  EXPECT_EQ(rows.substr(8, 8), std::string("\x20\0\0\0\x10\0\0\0", 8));
  EXPECT_EQ(rows.substr(16, 16), std::string("\x30\0\0\0\xFF\xFF\0\0\x2F\0\x01\0\x06\0\0\0", 16));
  EXPECT_EQ(rows.substr(32), std::string("\0\x01\0\0\x10\0\x01\0", 8));
}

TEST(CoverageMerge, is_what_any_run_has_reached) {
  CoverageTable a = two_functions();
  CoverageTable b = two_functions();
  a.rows[2].hits = 0;
  b.rows[1].hits = 1;
  b.rows[4].hits = 0;
  const std::vector<CoverageTable> both = {a, b};
  const MergedCoverage merged = profiler::merged(both);
  EXPECT_TRUE(merged.several_builds.empty());
  EXPECT_EQ(merged.table.rows.size(), a.rows.size());
  EXPECT_EQ(reached_in(merged.table),
            (std::vector<std::uint64_t>{0x1000, 0x1010, 0x1020, 0x1030, 0x100}));
  EXPECT_EQ(merged.table.rows[0].flow, Flow::branch);
  EXPECT_EQ(merged.table.rows[0].leads_to, 0x1020U);
}

TEST(CoverageMerge, cuts_blocks_where_one_run_has_cut_them) {
  CoverageTable a;
  a.modules = {{"/bin/demo", "ab12"}};
  a.functions = {{0, "main", 0x1000, 0x40}};
  CoverageTable b = a;
  CoverageTable c = a;
  a.rows = {{0, 0x1000, 0x10, 1, "exact", 7, "", false, Flow::ret, {}}};
  b.rows = {{0, 0x1000, 0x8, 0, "exact", {}, "", false, Flow::next, {}},
            {0, 0x1008, 0x8, 0, "exact", {}, "", false, Flow::ret, {}},
            {0, 0x1020, 0x8, 0, "exact-since:1.000", {}, "", false, Flow::ret, {}}};
  c.rows = {{0, 0x1000, 0x40, 0, "exact", {}, "", true, Flow::next, {}}};  // never entered
  const std::vector<CoverageTable> all = {a, b, c};
  const MergedCoverage merged = profiler::merged(all);
  ASSERT_EQ(merged.table.rows.size(), 3U);
  EXPECT_EQ(reached_in(merged.table), (std::vector<std::uint64_t>{0x1000, 0x1008}));
  EXPECT_EQ(merged.table.rows[1].flow, Flow::ret);
  EXPECT_EQ(merged.table.rows[2].kind, "exact-since:1.000");
}

TEST(CoverageMerge, takes_a_function_that_was_entered_for_its_first_block) {
  CoverageTable blocks = two_functions();
  CoverageTable functions = two_functions();
  blocks.rows[0].hits = blocks.rows[2].hits = 0;
  functions.rows = {{0, 0x1000, 0x40, 1, "exact", 7, "", true, Flow::next, {}}};
  const std::vector<CoverageTable> both = {blocks, functions};
  const MergedCoverage merged = profiler::merged(both);
  EXPECT_EQ(reached_in(merged.table), (std::vector<std::uint64_t>{0x1000, 0x1030, 0x100}));
  const std::vector<CoverageTable> alone = {functions};
  EXPECT_TRUE(profiler::merged(alone).table.rows.front().is_function);
}

TEST(CoverageMerge, keeps_builds_apart) {
  CoverageTable a = two_functions();
  CoverageTable b = two_functions();
  b.modules[0].build_id = "cd34";
  const std::vector<CoverageTable> both = {a, b};
  const MergedCoverage merged = profiler::merged(both);
  EXPECT_EQ(merged.several_builds, std::vector<std::string>{"/bin/demo"});
  EXPECT_EQ(merged.table.modules.size(), 3U);
  EXPECT_EQ(merged.table.rows.size(), 11U);  // the file without a build-id is one
}

TEST(CoverageTsv, names_how_blocks_end) {
  for (const Flow flow : {Flow::next, Flow::jump, Flow::branch, Flow::call, Flow::indirect_jump,
                          Flow::indirect_call, Flow::ret, Flow::syscall, Flow::stop}) {
    EXPECT_EQ(flow_of(word_of(flow)), flow);
  }
  EXPECT_FALSE(flow_of("sideways"));
}

}  // namespace
}  // namespace sp::profiler
