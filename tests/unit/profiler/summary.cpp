#include "profiler/summary.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <sstream>

#include "profiler/describe.h"
#include "profiler/text.h"
#include "unit/profiler/golden.h"
#include "unit/profiler/sample_run.h"

namespace sp::profiler {
namespace {

using namespace std::chrono_literals;

WrittenRun small_run() {
  WrittenRun run{.directory = "output/demo-4711", .counts = {}};
  run.counts.on_cpu = 12345;
  run.counts.with_stack = 12345;
  run.counts.truncated = 37;
  run.top = {
      {"compress_block(Block const&)", "/usr/bin/demo", "", FunctionKind::executable, 9000, 12000},
      {"std::vector<std::pair<std::string, std::map<int, double> > >::emplace_back(int&&)",
       "/usr/bin/demo", "", FunctionKind::executable, 2000, 2100},
      {"__memmove_avx_unaligned_erms", "/usr/lib/x86_64-linux-gnu/libc.so.6", "",
       FunctionKind::library, 1345, 1345}};
  run.files = {{"run.json", "output/demo-4711/run.json", 900},
               {"functions.tsv", "output/demo-4711/functions.tsv", 800},
               {"stacks.folded", "output/demo-4711/stacks.folded", 700},
               {"flamegraph.svg", "output/demo-4711/flamegraph.svg", 60000}};
  return run;
}

TEST(Summary, is_as_wide_as_the_terminal_and_complete) {
  const std::string text = summary_text(test::facts(), small_run(), {});
  test::expect_golden("summary.txt", text);
}

TEST(Summary, has_colour_only_where_asked_for) {
  EXPECT_EQ(summary_text(test::facts(), small_run(), {}).find('\033'), std::string::npos);
  EXPECT_NE(summary_text(test::facts(), small_run(), {.colour = true}).find('\033'),
            std::string::npos);
}

TEST(Summary, says_why_there_may_be_no_sample_and_what_to_try) {
  WrittenRun run = small_run();
  run.counts = {};
  run.top = {};
  const std::string text = summary_text(test::facts(), run, {});
  EXPECT_NE(text.find("No sample was taken"), std::string::npos);
  EXPECT_NE(text.find("--wall"), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

TEST(Summary, says_where_files_went_that_could_not_be_written) {
  WrittenRun run = small_run();
  run.failures = {{"writing output/demo-4711/stacks.folded", ENOSPC}};
  run.fallback_directory = "/var/tmp/superprofiler-demo-1";
  const std::string text = summary_text(test::facts(), run, {.columns = 200});
  EXPECT_NE(text.find("could not write: writing output/demo-4711/stacks.folded: No space left"),
            std::string::npos);
  EXPECT_NE(text.find("/var/tmp/superprofiler-demo-1"), std::string::npos);
  EXPECT_NE(text.find("results: output/demo-4711\n"), std::string::npos);
  for (WrittenFile& file : run.files) {
    file.path = run.fallback_directory + "/" + file.name;
  }
  EXPECT_EQ(summary_text(test::facts(), run, {.columns = 200}).find("results:"), std::string::npos);
}

TEST(Summary, says_how_many_events_of_a_trace_are_missing_and_why) {
  core::RunFacts facts = test::facts();
  facts.trace.emplace() = {5000, 7, 0};
  facts.trace->choice.when_full = core::WhenFull::keep;
  WrittenRun run = small_run();
  const SummaryStyle wide{.columns = 200};
  const std::string lost =
      "7 found no room (--buffer has more, --only-funcs and --filters need less)";
  EXPECT_NE(summary_text(facts, run, wide).find("trace: 5,000 events; " + lost + "\n"),
            std::string::npos);
  run.unwritten_events = 1200;
  EXPECT_NE(summary_text(facts, run, wide)
                .find("trace: 3,800 events; " + lost + "; 1,200 could not be written"),
            std::string::npos);
}

TEST(Summary, says_that_a_trace_has_reached_its_size) {
  core::RunFacts facts = test::facts();
  facts.trace.emplace() = {5000, 0, 0};
  WrittenRun run = small_run();
  run.unwritten_events = 1200;
  run.trace_is_full = true;
  EXPECT_NE(summary_text(facts, run, {.columns = 200})
                .find("trace: 3,800 events; 1,200 were beyond --trace-size"),
            std::string::npos);
}

TEST(Summary, advises_what_its_way_of_tracing_accepts) {
  core::RunFacts facts = test::facts();
  facts.trace.emplace() = {5000, 7, 0};
  const std::string text = summary_text(facts, small_run(), {.columns = 200});
  EXPECT_NE(text.find("7 found no room (--wait-when-full and -a keep all, "), std::string::npos)
      << text;
  EXPECT_EQ(text.find("--buffer"), std::string::npos) << "refused with --when-full flush";
}

std::string last_line(std::string text) {
  text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

TEST(Summary, names_the_directory_once_and_the_command_that_most_people_want_next) {
  WrittenRun run = small_run();
  EXPECT_EQ(last_line(summary_text(test::facts(), run, {})),
            "next: xdg-open output/demo-4711/flamegraph.svg");
  run.files.pop_back();
  EXPECT_EQ(last_line(summary_text(test::facts(), run, {})),
            "next: flamegraph.pl output/demo-4711/stacks.folded > flamegraph.svg "
            "(or run again with --flame)");
  run.code.emplace().hottest_function = "operator new(unsigned long)";
  EXPECT_EQ(last_line(summary_text(test::facts(), run, {})),
            "next: superprofiler annotate output/demo-4711 'operator new(unsigned long)'");
  run.failures = {{"writing output/demo-4711/blocks.tsv", ENOSPC}};
  EXPECT_EQ(last_line(summary_text(test::facts(), run, {})).find("annotate"), std::string::npos);
}

TEST(Summary, a_function_without_a_name_keeps_its_offset) {
  WrittenRun run = small_run();
  run.top = {{"liblonglibraryname.so.0.8.6+0x12345", "/usr/lib/liblonglibraryname.so.0.8.6", "",
              FunctionKind::library, 9000, 12000}};
  const std::string text = summary_text(test::facts(), run, {.columns = 60});
  EXPECT_NE(text.find("liblonglibraryname.so.0.8.6+0x12345\n"), std::string::npos) << text;
}

TEST(Summary, no_line_of_the_table_is_wider_than_the_terminal) {
  for (const std::size_t columns : {60U, 80U, 120U}) {
    std::istringstream lines(summary_text(test::facts(), small_run(), {.columns = columns}));
    for (std::string line; std::getline(lines, line);) {
      if (line.find("output/") == std::string::npos) {
        EXPECT_LE(count_code_points(line), columns) << line;
      }
    }
  }
}

TEST(Describe, durations_have_three_digits_and_a_unit) {
  EXPECT_EQ(duration_text(850ns), "850 ns");
  EXPECT_EQ(duration_text(12345ns), "12.3 us");
  EXPECT_EQ(duration_text(1204us), "1.20 ms");
  EXPECT_EQ(duration_text(999600us), "1.00 s");
  EXPECT_EQ(duration_text(200s), "3 min 20 s");
}

TEST(Describe, commands_read_as_a_shell_would_take_them) {
  EXPECT_EQ(command_text({"demo", "--x=1", "a b", "it's", ""}), "demo --x=1 'a b' 'it'\\''s' ''");
}

TEST(Describe, says_where_the_overhead_is_only_known_to_be_more) {
  core::Cost cost;
  cost.overhead_percent = 54.237;
  EXPECT_EQ(overhead_text(cost), "overhead about 54.24 %");
  cost.is_share_minimum = true;
  EXPECT_EQ(overhead_text(cost), "overhead more than 54.24 %");
}

TEST(Describe, says_what_the_numbers_are) {
  SampleCounts counts;
  counts.on_cpu = 1000;
  EXPECT_EQ(sampling_text(test::facts(), counts, false),
            "sampled (1,000 samples, on-CPU), one every 101 us on average");
  counts.blocked = 20;
  EXPECT_EQ(sampling_text(test::facts(), counts, true),
            "sampled (1,020 samples, wall: 1,000 on-CPU, 20 blocked), one every 101 us on average");
}

}  // namespace
}  // namespace sp::profiler
