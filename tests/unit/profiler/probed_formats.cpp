#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "profiler/formats/blocks_tsv.h"
#include "profiler/formats/functions_tsv.h"
#include "profiler/formats/run_json.h"
#include "profiler/summary.h"
#include "profiler/text.h"
#include "unit/profiler/golden.h"
#include "unit/profiler/probed.h"

namespace sp::profiler {
namespace {

using test::at;
using test::block;
using test::EdgeFlow;
using test::expect_golden;
using test::falling;
using test::kProgram;
using test::Probed;
using test::sample;
using test::second;
using test::since;
using test::until;

/// main (0x10..0x30) calls work (0x40..0x60), whose loop at 0x48 was hot; late (0x80) was found
/// late, and spin (0xa0) loops back to its own first block.
class ProbedFormats : public testing::Test {
 protected:
  ProbedFormats() : samples_(false) {
    test::add_modules(samples_);
    define("main", 0x10, 0x30);
    define("work", 0x40, 0x60);
    define("late", 0x80, 0x90);
    define("spin", 0xa0, 0xb0);
    profile_.add(Probed()
                     .block(block(0x10, 8, 10))
                     .block(block(0x18, 8, 9))
                     .block(block(0x20, 8, 0))
                     .block(falling(0x40, 8, 10))
                     .block(until(3.5, block(0x48, 8, 100000)))
                     .block(block(0x50, 4, 10))
                     .block(since(2, block(0x80, 6, 3)))
                     .block(since(2, until(4.25, block(0xa0, 4, 5000))))
                     .edge(0x16, 0x40, EdgeFlow::call, 10)
                     .edge(0x4e, 0x48, EdgeFlow::taken, 99990)
                     .edge(0x4e, 0x50, EdgeFlow::fallthrough, 10)
                     .edge(0x52, 0x18, EdgeFlow::ret, 10)
                     .edge(0x1e, 0x10, EdgeFlow::jump, 9)
                     .edge(0x84, 0x900, EdgeFlow::ret, 3)
                     .edge(0xa2, 0xa0, EdgeFlow::taken, 4998)
                     .taken());
    for (const std::uint64_t offset : {0x48U, 0x4cU, 0x4fU, 0x50U, 0x10U}) {
      samples_.add(sample({offset}));
    }
  }

  void define(const std::string& function, std::uint64_t start, std::uint64_t end) {
    for (std::uint64_t offset = start; offset < end; ++offset) {
      symbols::NamedFrame frame =
          test::named(function, "/src/demo.c", static_cast<std::uint32_t>(offset));
      frame.start = start;
      namer_.set(at(offset), {frame});
    }
  }
  NamedCode code() { return name_code(profile_, pc_samples(samples_), namer_, 1); }
  CountsContext context() { return {samples_.modules(), {}, second(1)}; }
  const CodeFunction& function(const NamedCode& code, const std::string& name) {
    const auto found = std::find_if(code.functions.begin(), code.functions.end(),
                                    [&](const CodeFunction& f) { return f.name == name; });
    EXPECT_NE(found, code.functions.end()) << name;
    return found == code.functions.end() ? none_ : *found;
  }
  static core::RunFacts facts() {
    core::RunFacts facts = test::facts();
    facts.probing = core::Probing{4,
                                  8,
                                  3,
                                  2,
                                  105042,
                                  5,
                                  3,
                                  300,
                                  std::chrono::microseconds(1500),
                                  {2, 1, 90000, 8000, 700, 60, {{"unmovable", 1}}}};
    return facts;
  }
  WrittenRun run() {
    WrittenRun run{.directory = "output/demo-4711", .counts = samples_.counts()};
    run.code = summed_up(code(), context(), 10);
    run.top = {{"work", "/usr/bin/demo", "", FunctionKind::executable, 4, 4}};
    return run;
  }

  ProbedProfile profile_;
  Profile samples_;
  test::TableNamer namer_;
  CodeFunction none_;
};

TEST_F(ProbedFormats, blocks_tsv_has_a_sampled_row_behind_a_block_that_became_too_hot) {
  std::ostringstream out;
  write_blocks_tsv(out, code(), context());
  expect_golden("probed_blocks.tsv", out.str());
}

TEST_F(ProbedFormats, edges_tsv_has_the_kind_of_the_block_that_is_left) {
  std::ostringstream out;
  write_edges_tsv(out, code(), context());
  expect_golden("probed_edges.tsv", out.str());
}

TEST_F(ProbedFormats, functions_tsv_has_calls_of_the_functions_with_probes) {
  std::vector<Function> functions = {{"sampled", "/usr/bin/demo", "", FunctionKind::executable, 3}};
  add_calls(functions, code(), samples_.modules());
  std::ostringstream out;
  write_functions_tsv(out, ranked(functions), context());
  expect_golden("probed_functions.tsv", out.str());
}

TEST_F(ProbedFormats, counts_of_an_attached_run_are_since_the_attach) {
  CountsContext attached = context();
  attached.counted.since = attached.started;
  std::ostringstream out;
  write_blocks_tsv(out, code(), attached);
  EXPECT_EQ(out.str().find("\texact\t"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("\texact-since:0.000,until:2.500\t"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("\texact-since:1.000\t"), std::string::npos) << out.str();
  EXPECT_EQ(kind_of_all({}, attached), "exact-since:0.000");
}

TEST_F(ProbedFormats, calls_are_the_hits_of_the_first_block_without_its_own_loops) {
  const NamedCode named = code();
  EXPECT_EQ(function(named, "main").calls, 1U) << "it jumps back 9 times";
  EXPECT_EQ(function(named, "work").calls, 10U);
  EXPECT_TRUE(function(named, "work").calls_span.is_whole()) << "its loop is elsewhere";
  EXPECT_EQ(function(named, "spin").calls, 2U);
  EXPECT_EQ(function(named, "spin").calls_span, (CountedSpan{second(2), second(4.25)}));
}

TEST_F(ProbedFormats, recursion_is_calls) {
  profile_.add(Probed().block(block(0x40, 8, 7)).edge(0x52, 0x40, EdgeFlow::call, 7).taken());
  EXPECT_EQ(function(code(), "work").calls, 17U);
}

TEST_F(ProbedFormats, calls_are_not_known_where_the_loop_was_counted_over_another_span) {
  profile_.add(Probed().block(block(0x40, 8, 500)).edge(0x4e, 0x40, EdgeFlow::taken, 400).taken());
  const NamedCode named = code();
  EXPECT_FALSE(function(named, "work").has_calls);
  std::vector<Function> functions;
  add_calls(functions, named, samples_.modules());
  for (const Function& row : functions) {
    EXPECT_EQ(row.calls.has_value(), row.name != "work") << row.name;
  }
}

TEST_F(ProbedFormats, calls_are_not_known_where_a_copy_jumps_to_the_first_block) {
  core::ProbedBlock<core::ModuleOffset> copied = block(0x40, 8, 500);
  copied.edges_until = second(3);
  copied.is_jumped_to = true;
  profile_.add(Probed().block(copied).taken());
  const NamedCode named = code();
  EXPECT_FALSE(function(named, "work").has_calls);
  EXPECT_TRUE(function(named, "main").has_calls);
}

TEST_F(ProbedFormats, a_function_that_was_only_met_in_the_middle_was_not_called) {
  profile_.add(Probed().block(block(0x20, 8, 4)).taken());
  define("middle", 0xc0, 0xd0);
  profile_.add(
      Probed().block(since(2, block(0xc0, 8, 0))).block(since(2, block(0xc8, 8, 5))).taken());
  define("unknown", 0xd0, 0xf0);
  profile_.add(Probed().block(block(0xd8, 8, 5)).taken());
  const NamedCode named = code();
  EXPECT_TRUE(function(named, "middle").has_calls);
  EXPECT_EQ(function(named, "middle").calls, 0U);
  EXPECT_EQ(function(named, "middle").calls_span, (CountedSpan{.since = second(2)}));
  EXPECT_FALSE(function(named, "unknown").has_calls) << "its first block has no probe";
}

TEST_F(ProbedFormats, run_json_says_what_was_counted_and_what_probes_did) {
  const NamedCode counted = code();
  RunReport report{.facts = facts(), .counts = {}, .modules = {}, .processes = {}};
  report.code = &counted;
  report.counts_context = context();
  report.explored = {3, 290, 41, 1};
  std::ostringstream out;
  write_run_json(out, report);
  const std::string text = out.str();
  const std::size_t begin = text.find("  \"counts\"");
  expect_golden("probed_counts.json", text.substr(begin, text.find("  \"losses\"") - begin));
}

TEST_F(ProbedFormats, the_summary_shows_samples_then_blocks_then_probes) {
  expect_golden("summary_probed.txt", summary_text(facts(), run(), {}));
}

TEST_F(ProbedFormats, a_block_that_lost_its_probe_ranks_by_its_samples) {
  const WrittenCode code = *run().code;
  ASSERT_GE(code.top.size(), 2U);
  EXPECT_EQ(code.top[0].function, "work");
  EXPECT_EQ(code.top[0].offset, 8U);
  EXPECT_EQ(code.top[0].samples, 3U);
  EXPECT_EQ(code.top[0].span, "until 2.500 s");
  EXPECT_EQ(code.top[1].samples, 1U);
  EXPECT_EQ(code.top[1].span, "whole run") << "10 hits of the whole run and a sample";
}

TEST_F(ProbedFormats, annotate_is_told_the_hottest_function_so_that_it_finds_it) {
  EXPECT_EQ(run().code->hottest_function, "work");
  define("work", 0x200, 0x210);
  profile_.add(Probed().block(block(0x200, 8, 1)).taken());
  EXPECT_EQ(run().code->hottest_function, "/usr/bin/demo:0x40") << "two are called work";
}

TEST_F(ProbedFormats, a_truncated_count_without_a_sample_is_not_ranked) {
  const WrittenRun written = run();
  for (const WrittenCode::Block& row : written.code->top) {
    EXPECT_NE(row.function, "spin") << "5,000 hits until 3.250 s, and no sample";
  }
}

TEST_F(ProbedFormats, blocks_that_were_all_counted_to_the_end_rank_by_hits) {
  ProbedProfile whole;
  whole.add(Probed()
                .block(block(0x10, 8, 10))
                .block(since(2, block(0x20, 8, 900)))
                .block(block(0x40, 8, 2000))
                .taken());
  const NamedCode named = name_code(whole, pc_samples(samples_), namer_, 1);
  const WrittenCode code = summed_up(named, context(), 10);
  ASSERT_EQ(code.top.size(), 3U);
  EXPECT_EQ(code.top[0].hits, 2000U);
  EXPECT_EQ(code.top[1].hits, 900U);
  EXPECT_EQ(code.top[1].span, "since 1.000 s");
  EXPECT_EQ(code.top[2].hits, 10U);
}

TEST_F(ProbedFormats, the_summary_names_the_module_of_a_block_once) {
  WrittenRun stripped = run();
  stripped.code->top = {{7, 2, "demo+0x48", 8, "/usr/bin/demo", "", 3, "whole run"}};
  const std::string text = summary_text(facts(), stripped, {});
  EXPECT_NE(text.find("  demo+0x48+0x8\n"), std::string::npos) << text;
}

TEST_F(ProbedFormats, the_summary_has_no_blocks_where_none_was_hit) {
  WrittenRun nothing_hit = run();
  nothing_hit.code->top.clear();
  core::RunFacts none_planted = facts();
  none_planted.probing->planted = 0;
  const std::string text = summary_text(none_planted, nothing_hit, {});
  EXPECT_EQ(text.find("counted        block"), std::string::npos) << text;
  EXPECT_EQ(text.find("probes:"), std::string::npos) << text;
  EXPECT_NE(text.find("self %"), std::string::npos) << text;
}

TEST_F(ProbedFormats, the_summary_says_why_there_may_be_no_sample_beside_counts) {
  WrittenRun unsampled = run();
  unsampled.counts = {};
  const std::string text = summary_text(facts(), unsampled, {});
  EXPECT_NE(text.find("No sample was taken"), std::string::npos) << text;
  EXPECT_NE(text.find("counted        block"), std::string::npos) << text;
}

TEST_F(ProbedFormats, no_line_of_the_summary_is_wider_than_the_terminal) {
  for (const std::size_t columns : {64U, 80U, 120U}) {
    std::istringstream lines(summary_text(facts(), run(), {.columns = columns}));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(count_code_points(line), columns) << line;
    }
  }
}

}  // namespace
}  // namespace sp::profiler
