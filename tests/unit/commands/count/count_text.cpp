#include "commands/count/count_text.h"

#include <gtest/gtest.h>

#include <chrono>

namespace sp::count {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Table table() {
  Table table;
  table.interval = seconds(2);
  table.rows.push_back({"malloc", "/lib/libc.so.6", 1000, 1000});
  return table;
}

TEST(CountText, a_row_has_calls_their_rate_and_kind) {
  Table shown = table();
  shown.rows[0].span.until = core::TimePoint{seconds(5)};
  const TableStyle style{{}, 20, core::TimePoint{seconds(4)}};
  EXPECT_EQ(table_text(shown, style),
            "         calls       calls/s  kind                  function\n"
            "         1,000           500  exact-until:1.000     malloc  libc.so.6\n");
}

TEST(CountText, groups_are_cut_and_say_so) {
  Table shown = table();
  core::CallQuery query;
  query.values = {{1, core::ValueType::text}, {0, core::ValueType::signed_number}};
  shown.rows[0].groups = {{{"\"a\"", "-1"}, "", "", 750}, {{"\"b\"", "0"}, "", "", 200}};
  const std::string text = table_text(shown, {query, 1});
  EXPECT_NE(text.find("           750   75.0 %  arg1=\"a\"  ret=-1\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("arg1=\"b\""), std::string::npos);
  EXPECT_NE(text.find("1 more rows: --limit 0"), std::string::npos);
  EXPECT_NE(text.find("50 did not return"), std::string::npos);
}

TEST(CountText, histograms_have_percentiles_and_a_bar_for_each_power_of_two) {
  Table shown = table();
  core::CallQuery query;
  query.has_durations = true;
  GroupRow group;
  group.calls = 1000;
  for (int i = 0; i < 1000; ++i) {
    const auto took = core::Duration(i < 900 ? milliseconds(2) : milliseconds(20));
    group.measured.add(static_cast<std::uint64_t>(took.count()));
  }
  shown.rows[0].groups = {group};
  const std::string text = table_text(shown, {query, 20});
  EXPECT_NE(text.find("duration: p50 2.10 ms  p90 2.10 ms  p99 20.0 ms  max 20.0 ms\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("|########################################|"), std::string::npos) << text;
  EXPECT_NE(text.find("|#####                                   |"), std::string::npos) << text;
}

TEST(CountText, inlined_functions_are_named_in_one_line) {
  symbols::InlinedCopies found;
  EXPECT_EQ(inlined_note(found, "/bin/app"), "");
  found.copies = {{"f", 1}};
  EXPECT_EQ(inlined_note(found, "/bin/app"),
            "in app 1 function is inlined: f in 1 place: calls there are not counted");
  found.copies = {{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}};
  found.is_complete = false;
  EXPECT_EQ(inlined_note(found, "/bin/app"),
            "in app at least 4 functions are inlined: d in 4 places, c in 3 places, b in 2 places, "
            "..: calls there are not counted");
}

TEST(CountJson, is_one_line_with_all_groups) {
  Table shown = table();
  core::CallQuery query;
  query.values = {{1, core::ValueType::signed_number}};
  query.measured = core::CallValue{0, core::ValueType::signed_number};
  GroupRow group{{"-7"}, "", "", 3};
  group.measured = core::ValueHistogram(true);
  group.measured.add(static_cast<std::uint64_t>(-3));
  shown.rows[0].groups = {group};
  EXPECT_EQ(table_json(shown, {query, 1}, 2.5),
            R"({"at_ms":2500,"interval_ms":2000,"functions":[{"function":"malloc",)"
            R"("module":"/lib/libc.so.6","calls":1000,"kind":"exact","groups":[{"arg1":"-7",)"
            R"("calls":3,"histogram":{"of":"ret","p50":-3,"p90":-3,"p99":-3,"max":-3,)"
            R"("buckets":[[-3,-3,1]]}}]}]})"
            "\n");
}

}  // namespace
}  // namespace sp::count
