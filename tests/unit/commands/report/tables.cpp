#include "commands/report/tables.h"

#include <gtest/gtest.h>

#include <sstream>

#include "commands/report/report_text.h"

namespace sp::report {
namespace {

using profiler::RecordedCode;
using profiler::RecordedFunction;

/// main calls f and g, f calls g; all in "a" but g, which is in "b".
class Stacks final : public profiler::StackSource {
 public:
  [[nodiscard]] std::span<const RecordedFunction> functions() const override { return functions_; }
  void for_each(const Visit& visit) override {
    for (const auto& [stack, samples] : stacks_) {
      visit(stack, samples);
    }
  }

 private:
  std::vector<RecordedFunction> functions_{{"main", "/a", "m.c", 3, 0, 100, 1, "exact"},
                                           {"f", "/a", "m.c", 9, 30, 90, 500, "exact-until:1.5"},
                                           {"g", "/b", "", 0, 70, 70, std::nullopt, "not-counted"},
                                           {"never", "/b", "", 0, 0, 0, std::nullopt, ""}};
  std::vector<std::pair<std::vector<std::uint32_t>, std::uint64_t>> stacks_{
      {{0, 1}, 30}, {{0, 1, 2}, 60}, {{0, 2}, 10}};
};

/// A block of main calls f 7 times, and f calls itself 2 times.
RecordedCode code() {
  RecordedCode code;
  code.modules = {"/a"};
  code.files = {""};
  code.functions = {{0, "main", 0x10}, {0, "f", 0x20}};
  code.blocks = {{0, 0, 0, 8, 2, 0x10, 1}, {1, 0, 0, 8, 2, 0x20, 9}};
  code.edges = {{0, 0, core::EdgeFlow::call, 0x14, 0x20, 7, true},
                {0, 0, core::EdgeFlow::call, 0x24, 0x20, 2, false}};
  return code;
}

std::vector<std::string> names(const std::vector<Row>& rows) {
  std::vector<std::string> found;
  for (const Row& row : rows) {
    found.push_back(row.name);
  }
  return found;
}

using Names = std::vector<std::string>;

TEST(ReportTables, have_the_functions_that_were_sampled_or_counted) {
  Stacks stacks;
  const auto rows = function_rows(stacks.functions());
  EXPECT_EQ(names(rows), (Names{"main", "f", "g"}));
  EXPECT_EQ(rows[1].source, "m.c:9");
  EXPECT_EQ(rows[1].calls, 500U);
}

TEST(ReportTables, are_sorted_and_leave_out_what_is_below_the_limit) {
  Stacks stacks;
  const auto sorted = [&](Sort sort, double limit) {
    return make_table(function_rows(stacks.functions()), 100, sort, limit);
  };
  EXPECT_EQ(names(sorted(Sort::self, 0).rows), (Names{"g", "f", "main"}));
  EXPECT_EQ(names(sorted(Sort::total, 0).rows), (Names{"main", "f", "g"}));
  EXPECT_EQ(names(sorted(Sort::calls, 0).rows), (Names{"f", "main", "g"}));
  EXPECT_EQ(names(sorted(Sort::self, 80).rows), (Names{"f", "main"}));  // by the total
  EXPECT_EQ(sorted(Sort::self, 80).left_out, 1U);
  EXPECT_EQ(names(sorted(Sort::calls, 1).rows), Names{"f"});
}

TEST(ReportTables, count_a_stack_once_for_a_module) {
  Stacks stacks;
  const Table table = make_table(module_rows(stacks), 100, Sort::total, 0);
  ASSERT_EQ(names(table.rows), (Names{"/a", "/b"}));
  EXPECT_EQ(table.rows[0].self, 30U);
  EXPECT_EQ(table.rows[0].total, 100U);
  EXPECT_EQ(table.rows[0].calls, 501U);
  EXPECT_EQ(table.rows[0].calls_kind, "mixed");
  EXPECT_EQ(table.rows[1].total, 70U);
  EXPECT_FALSE(table.rows[1].calls);
}

TEST(ReportTables, tell_callers_and_callees_from_stacks_and_edges) {
  Stacks stacks;
  const RecordedCode counted = code();
  const profiler::CallgrindGraph graph(&counted, stacks);
  const auto rows = [&](std::string_view of, bool callers) {
    const auto is_it = [of](std::string_view name) { return name == of; };
    return make_table(caller_rows(graph, &counted, is_it, callers), 90, Sort::total, 0).rows;
  };
  const auto callers = rows("f", true);
  ASSERT_EQ(names(callers), (Names{"main", "f"}));
  EXPECT_EQ(callers[0].total, 90U);
  EXPECT_EQ(callers[0].calls, 7U);
  EXPECT_EQ(callers[0].calls_kind, "exact");
  EXPECT_EQ(callers[1].total, 0U);  // by itself
  EXPECT_EQ(callers[1].calls, 2U);
  EXPECT_EQ(callers[1].calls_kind, "mixed");
  const auto callees = rows("main", false);
  ASSERT_EQ(names(callees), (Names{"f", "g"}));
  EXPECT_EQ(callees[1].total, 10U);
  EXPECT_FALSE(callees[1].calls);
}

TEST(ReportText, says_what_the_numbers_are) {
  Stacks stacks;
  const Table table = make_table(function_rows(stacks.functions()), 100, Sort::self, 75);
  std::ostringstream out;
  write_text(out, {"./a x", "sampled, on-CPU, 100 samples", "functions", "mixed"}, table);
  EXPECT_EQ(out.str(),
            "./a x: sampled, on-CPU, 100 samples; counted: mixed\n"
            "                 self                  total             calls kind             "
            "functions                                                     module\n"
            "  30.0 %           30    90.0 %           90               500 exact-until:1.5  "
            "f                                                             a\n"
            "   0.0 %            0   100.0 %          100                 1 exact            "
            "main                                                          a\n"
            "1 more below the limit: --percent-limit 0 shows them\n");
}

TEST(ReportText, keeps_names_to_one_line) {
  std::ostringstream out;
  write_text(out, {"a", "not sampled", "functions", ""},
             {{{std::string(100, 'x') + "\n\x1B[2J\xFF", "", "", 1, 1}}, 0, 0});
  const std::string text = out.str();
  EXPECT_EQ(text.find('\x1B'), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_NE(text.find("nothing was counted"), std::string::npos);
}

TEST(ReportText, is_json_on_request) {
  std::ostringstream out;
  write_json(out, {"a\"b", "not sampled", "callers of f", "", false},
             {{{"g\n", "/m", "", 0, 4, std::nullopt, ""}}, 8, 2});
  EXPECT_EQ(out.str(), R"({
  "command": "a\"b",
  "sampled": "not sampled",
  "counts_kind": null,
  "samples": 8,
  "rows_of": "callers of f",
  "left_out": 2,
  "rows": [
    {
      "name": "g\n",
      "module": "/m",
      "source": "",
      "total_samples": 4,
      "calls": null,
      "calls_kind": null
    }
  ]
}
)");
}

}  // namespace
}  // namespace sp::report
