#include <gtest/gtest.h>

#include <sstream>

#include "profiler/formats/blocks_tsv.h"
#include "profiler/formats/functions_tsv.h"
#include "profiler/formats/run_json.h"
#include "profiler/summary.h"
#include "unit/profiler/counted.h"
#include "unit/profiler/golden.h"

namespace sp::profiler {
namespace {

using test::expect_golden;
using test::kJitted;
using test::kLibc;
using test::kProgram;
using test::named;

/// The loop of counted.h with calls into a library and into code generated at run time.
class CodeFormats : public testing::Test {
 protected:
  CodeFormats() : samples_(false) {
    test::add_modules(samples_);
    for (std::uint64_t offset = 0x10; offset < 0x30; ++offset) {
      symbols::NamedFrame main =
          named("main", "/src/demo.c", static_cast<std::uint32_t>(offset - 6));
      main.start = 0x10;
      namer_.set({kProgram, offset}, {main});
    }
    symbols::NamedFrame tab = named("tab\there", "/src/a\tb.c", 3);
    tab.start = 0x50;
    namer_.set({kLibc, 0x50}, {named("inlined", "/src/inline.h", 7, true), tab});
    namer_.set({kJitted, 0x7f00}, "LazyCompile:*fib /srv/app.js:3");
    profile_.add(test::loop(100)
                     .run(0x50, {3, 1}, kLibc)
                     .run(0x7f00, {2}, kJitted)
                     .edge({kProgram, 0x21}, {kLibc, 0x50}, core::EdgeFlow::jump, 1, 5, 6)
                     .edge({kLibc, 0x53}, {kJitted, 0x7f00}, core::EdgeFlow::indirect, 1, 6, 6)
                     .taken());
  }

  NamedCode code() { return name_code(profile_, namer_, 1); }
  CountsContext context() {
    const core::TimePoint started{std::chrono::seconds(1)};
    return {samples_.modules(), {.since = started + std::chrono::seconds(2)}, started};
  }

  CodeProfile profile_;
  Profile samples_;
  test::TableNamer namer_;
};

TEST_F(CodeFormats, blocks_tsv_is_as_documented) {
  std::ostringstream out;
  write_blocks_tsv(out, code(), context());
  expect_golden("blocks.tsv", out.str());
}

TEST_F(CodeFormats, edges_tsv_is_as_documented) {
  std::ostringstream out;
  write_edges_tsv(out, code(), context());
  expect_golden("edges.tsv", out.str());
}

TEST_F(CodeFormats, functions_tsv_has_calls_and_what_they_are) {
  std::vector<Function> functions = {{"sampled", "/usr/bin/demo", "", FunctionKind::executable, 3}};
  add_calls(functions, code(), samples_.modules());
  std::ostringstream out;
  write_functions_tsv(out, ranked(functions), {});
  expect_golden("functions_with_calls.tsv", out.str());
}

TEST_F(CodeFormats, run_json_sums_the_counts_up) {
  const NamedCode counted = code();
  RunReport report{.facts = test::facts(), .counts = {}, .modules = {}, .processes = {}};
  report.code = &counted;
  std::ostringstream out;
  write_run_json(out, report);
  const std::string text = out.str();
  const std::size_t begin = text.find("  \"counts\"");
  expect_golden("run_counts.json", text.substr(begin, text.find("  \"losses\"") - begin));
}

TEST_F(CodeFormats, the_summary_shows_the_hottest_blocks) {
  WrittenRun run{.directory = "output/demo-4711", .counts = {}};
  run.code = summed_up(code(), {.modules = samples_.modules()}, 10);
  run.files = {{"blocks.tsv", "output/demo-4711/blocks.tsv", 900}};
  expect_golden("summary_exact.txt", summary_text(test::facts(), run, {}));
}

TEST_F(CodeFormats, the_summary_says_what_is_wrong_with_the_counts) {
  WrittenRun run{.directory = "output/demo-4711", .counts = {}};
  run.code = summed_up(code(), {.modules = samples_.modules()}, 10);
  run.code->consistency.disagreeing = 4;
  run.code->lost_hits = 1234;
  const std::string text = summary_text(test::facts(), run, {});
  EXPECT_NE(text.find("4 blocks disagree"), std::string::npos) << text;
  EXPECT_NE(text.find("1,234 hits"), std::string::npos) << text;
}

TEST(EmptyCounts, still_have_headers) {
  std::ostringstream blocks;
  write_blocks_tsv(blocks, {}, {});
  EXPECT_EQ(blocks.str(),
            "module\toffset\taddress\tfunction\tfunction_offset\tsize\tinstructions\thits\tkind\t"
            "first_us\tlast_us\tsource\n");
  std::ostringstream edges;
  write_edges_tsv(edges, {}, {});
  EXPECT_EQ(edges.str(), "module\tfrom_offset\tto_module\tto_offset\thits\tkind\tflow\n");
}

}  // namespace
}  // namespace sp::profiler
