// The page of report --html: what the writer puts into it. tests/browser/ opens it.
#include "profiler/html/html_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "golden.h"
#include "profiler/html/number_stream.h"
#include "profiler/html/page_text.h"
#include "recorded.h"

namespace sp::profiler {
namespace {

using test::demo_code;
using test::demo_run;
using test::hard_stacks;
using test::Stacks;

std::string in_base64(const std::vector<std::uint64_t>& numbers) {
  std::ostringstream out;
  NumberStream stream(out);
  for (const std::uint64_t number : numbers) {
    stream.put(number);
  }
  stream.finish();
  return out.str();
}

std::string page_of(const HtmlReport& report) {
  std::ostringstream out;
  write_html_report(out, report);
  return out.str();
}

/// The page without what all pages have.
std::string own_part(const std::string& page) {
  const std::size_t begin = page.find(page_body()) + page_body().size();
  return page.substr(begin, page.find("<script>\n'use strict'") - begin);
}

std::string column(const std::string& page, const std::string& id) {
  const std::string head = "id=\"data-" + id + "\">";
  const std::size_t begin = page.find(head) + head.size();
  return page.substr(begin, page.find('<', begin) - begin);
}

std::size_t times(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(NumberStream, writes_seven_bits_a_byte_in_base64) {
  EXPECT_EQ(in_base64({}), "");
  EXPECT_EQ(in_base64({0}), "AA==");
  EXPECT_EQ(in_base64({1, 2}), "AQI=");
  EXPECT_EQ(in_base64({1, 2, 127}), "AQJ/");
  EXPECT_EQ(in_base64({128, 300}), "gAGsAg==");
  EXPECT_EQ(in_base64({~std::uint64_t{0}}), "////////////AQ==");
}

TEST(HtmlReport, has_all_of_a_run) {
  Stacks stacks = hard_stacks();
  const RecordedRun run = demo_run();
  RecordedCode code = demo_code();
  code.kinds = {"exact"};
  const ReportTimeline timeline{
      {{"demo", 7, 7}, {"work<er>", 8, 7}},
      {{1'000'000, 1, 0, 1, false}, {3'500'999, 2, 1, 0, true}, {3'500'000, 1, 0, 4, true}},
      2};
  HtmlReport report;
  report.run = &run;
  report.stacks = &stacks;
  report.code = &code;
  report.timeline = &timeline;
  report.facts = {{"Samples", "10", "sampled"}};
  report.notes = {"</script><b>"};
  report.listings = {{1,
                      "10 samples",
                      {"/src/a,b.c"},
                      {{0, {{30, "a << 1; // \xe9"}, {31, "}"}}}},
                      {{0x1100, "shl eax, 1", 4, 4, true, 0, 30}, {0x1102, "ret", 0}}}};
  test::expect_golden("report_data.txt", own_part(page_of(report)));
}

TEST(HtmlReport, has_stacks_as_what_differs_from_the_one_before) {
  Stacks stacks = hard_stacks();
  const RecordedRun run = demo_run();
  HtmlReport report;
  report.run = &run;
  report.stacks = &stacks;
  EXPECT_EQ(column(page_of(report), "stacks"),
            in_base64({0, 2, 0, 1, 4, 0, 1, 2, 3, 1, 2, 1, 2, 1, 4, 2, 3, 2, 2}));
}

TEST(HtmlReport, has_scripts_that_no_name_can_end) {
  const std::string hostile = "</script><!--<script>" + std::string("\0\xff\"'&\xe2\x80\xa8", 8);
  Stacks stacks({{hostile, hostile, hostile, 1, 1, 1, 1, hostile}}, {{{0}, 1}});
  RecordedRun run = demo_run();
  run.command = hostile;
  RecordedCode code{{hostile}, {"", hostile}, {{0, hostile, 0}}, {{}}, {}, 0, {hostile}};
  const ReportTimeline timeline{{{hostile, 1, 1}}, {}, 1};
  HtmlReport report{&run,      &stacks,
                    &code,     &timeline,
                    {},        {{hostile, hostile, hostile}},
                    {hostile}, {{0, hostile, {hostile}, {{0, {{1, hostile}}}}, {{0, hostile}}}},
                    hostile,   hostile,
                    hostile,   hostile};
  const std::string page = page_of(report);
  const std::string data = own_part(page);
  EXPECT_EQ(times(data, "<script"), 5U);  // stacks, blocks, edges, samples, head
  EXPECT_EQ(times(data, "</"), 5U);
  EXPECT_EQ(times(data, "<"), 10U);
  EXPECT_EQ(times(page, "<!--"), 0U);
  EXPECT_EQ(times(page, std::string(1, '\0')), 0U);
  EXPECT_EQ(times(page, "\xff"), 0U);
}

TEST(HtmlReport, has_counts_beyond_2_to_the_53_in_full) {
  constexpr std::uint64_t kMany = (std::uint64_t{1} << 53U) + 1;
  Stacks stacks({{"f", "/m", "", 0, kMany, kMany - 2, kMany, "exact"}}, {{{0}, kMany}});
  RecordedRun run = demo_run();
  HtmlReport report;
  report.run = &run;
  report.stacks = &stacks;
  const std::string page = page_of(report);
  EXPECT_NE(page.find("\"9007199254740993\",9007199254740991,\"9007199254740993\""),
            std::string::npos);
  EXPECT_NE(page.find("\"large\":true"), std::string::npos);
  EXPECT_EQ(column(page, "stacks"), in_base64({0, 1, 0, kMany}));
}

TEST(HtmlReport, of_an_empty_run_says_what_is_absent) {
  Stacks stacks({}, {});
  RecordedRun run;
  HtmlReport report;
  report.run = &run;
  report.stacks = &stacks;
  report.no_stacks = "nothing was sampled";
  const std::string page = page_of(report);
  EXPECT_EQ(column(page, "stacks"), "");
  EXPECT_NE(page.find("\"stacks\":\"nothing was sampled\""), std::string::npos);
  EXPECT_NE(page.find("\"code\":null"), std::string::npos);
  EXPECT_NE(page.find("\"timeline\":null"), std::string::npos);
}

TEST(HtmlReport, has_the_most_executed_blocks_of_many_and_says_so) {
  Stacks stacks({}, {});
  RecordedRun run = demo_run();
  RecordedCode code{{"/m"}, {""}, {{0, "f", 0}}, {}, {}, 0, {"exact"}};
  for (std::uint64_t i = 0; i <= kMostReportedCounts; ++i) {
    code.blocks.push_back({0, 0, 0, 1, 1, i, i});
  }
  HtmlReport report;
  report.run = &run;
  report.stacks = &stacks;
  report.code = &code;
  const std::string page = page_of(report);
  EXPECT_NE(page.find("These are the 100,000 most executed of 100,001 blocks"), std::string::npos);
  EXPECT_EQ(column(page, "blocks").substr(0, 12),
            in_base64({0, kMostReportedCounts, 1, 1, kMostReportedCounts, 0}).substr(0, 12));
}

TEST(HtmlReport, cuts_names_that_are_too_long_to_be_read) {
  Stacks stacks({{std::string(100 * 1024, '<'), "/m", "", 0, 1, 1}}, {{{0}, 1}});
  const RecordedRun run = demo_run();
  HtmlReport report;
  report.run = &run;
  report.stacks = &stacks;
  EXPECT_LT(own_part(page_of(report)).size(), 32U * 1024);
}

TEST(HtmlReport, asks_for_nothing_and_makes_no_markup_of_texts) {
  for (const std::string_view never :
       {"innerHTML", "outerHTML", "insertAdjacent", "eval(", "fetch(", "XMLHttpRequest",
        "http:", "https:", "import ", "url(", "</script", "document.write"}) {
    for (const std::string_view part : {page_style(), page_body(), page_script()}) {
      EXPECT_EQ(times(part, never), 0U) << never;
    }
  }
  EXPECT_GT(page_script().size(), 10'000U);
}

}  // namespace
}  // namespace sp::profiler
