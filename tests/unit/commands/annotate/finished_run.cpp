#include "commands/annotate/finished_run.h"

#include <gtest/gtest.h>

namespace sp::annotate {
namespace {

const std::string kHeader =
    "module\toffset\taddress\tfunction\tfunction_offset\tsize\tinstructions\thits\tkind\tfirst_us\t"
    "last_us\tsource\n";

std::string row(const std::string& module, const std::string& offset, const std::string& function,
                const std::string& behind, const std::string& hits,
                const std::string& kind = "exact") {
  return module + "\t" + offset + "\t0x0\t" + function + "\t" + behind + "\t4\t2\t" + hits + "\t" +
         kind + (kind == "sampled" ? "\t\t\t\n" : "\t1\t2\t\n");
}

CountedRun counted(const std::string& rows) {
  auto functions = parse_blocks(kHeader + rows, "blocks.tsv");
  EXPECT_TRUE(functions) << functions.error().message();
  return {functions ? std::move(*functions) : std::vector<CountedFunction>{}, {}};
}

CountedRun several() {
  return counted(row("/bin/demo", "0x18", "main", "0x8", "100") +
                 row("/bin/demo", "0x10", "main", "0x0", "1") +
                 row("/bin/demo", "0x40", "init", "0x0", "1") +
                 row("/bin/demo", "0x60", "init", "0x0", "1") +
                 row("/lib/libz.so.1", "0x10", "init", "0x0", "1") +
                 row("/bin/demo", "0x80", "ns::f(int)", "0x0", "1"));
}

TEST(AnnotateRun, puts_the_blocks_of_a_function_together_by_offset) {
  const CountedRun run = several();
  const auto found = find_functions(run, "main");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->module, "/bin/demo");
  EXPECT_EQ(found[0]->start, 0x10U);
  EXPECT_EQ(found[0]->kind, "exact");
  ASSERT_EQ(found[0]->blocks.size(), 2U);
  EXPECT_EQ(found[0]->blocks[0].offset, 0x10U);
  EXPECT_EQ(found[0]->blocks[1].hits, 100U);
  EXPECT_EQ(found[0]->blocks[1].size, 4U);
}

TEST(AnnotateRun, samples_are_never_hits) {
  const CountedRun run =
      counted(row("/bin/demo", "0x18", "main", "0x8", "9000", "exact-until:2.5") +
              row("/bin/demo", "0x18", "main", "0x8", "77", "sampled") +
              row("/bin/demo", "0x10", "main", "0x0", "1") +
              row("/bin/demo", "0x40", "alone", "0x0", "5", "sampled"));
  ASSERT_EQ(run.functions.size(), 1U) << "what was only sampled was not counted";
  const CountedFunction& main = run.functions[0];
  EXPECT_EQ(main.kind, "mixed");
  ASSERT_EQ(main.blocks.size(), 2U);
  EXPECT_EQ(main.blocks[0].kind, "exact");
  EXPECT_EQ(main.blocks[0].samples, 0U);
  EXPECT_EQ(main.blocks[1].kind, "exact-until:2.5");
  EXPECT_EQ(main.blocks[1].hits, 9000U);
  EXPECT_EQ(main.blocks[1].samples, 77U);
}

TEST(AnnotateRun, a_function_has_the_kind_that_all_its_blocks_have) {
  const CountedRun run = counted(row("/bin/demo", "0x10", "main", "0x0", "1", "exact-since:0.000") +
                                 row("/bin/demo", "0x18", "main", "0x8", "2", "exact-since:0.000"));
  EXPECT_EQ(run.functions.at(0).kind, "exact-since:0.000");
}

TEST(AnnotateRun, tells_functions_of_one_name_apart) {
  const CountedRun run = several();
  EXPECT_EQ(find_functions(run, "init").size(), 3U);
  EXPECT_EQ(find_functions(run, "demo:init").size(), 2U);
  EXPECT_EQ(find_functions(run, "libz.so.1:init").size(), 1U);
  EXPECT_EQ(find_functions(run, "/lib/libz.so.1:init").size(), 1U);
  EXPECT_EQ(find_functions(run, "demo:0x60").at(0)->start, 0x60U);
  EXPECT_EQ(find_functions(run, "ns::f(int)").size(), 1U);
  EXPECT_TRUE(find_functions(run, "ns").empty());
  EXPECT_EQ(unique_name(run, *find_functions(run, "libz.so.1:init")[0]), "libz.so.1:init");
  EXPECT_EQ(unique_name(run, *find_functions(run, "demo:0x60")[0]), "demo:0x60");
}

TEST(AnnotateRun, offers_names_that_contain_what_was_typed) {
  EXPECT_EQ(similar_names(several(), "f(", 5), std::vector<std::string>{"ns::f(int)"});
  EXPECT_EQ(similar_names(several(), "i", 2).size(), 2U);
  EXPECT_TRUE(similar_names(several(), "nothing", 5).empty());
}

TEST(AnnotateRun, reads_escaped_names_and_columns_in_any_order) {
  const auto functions = parse_blocks(
      "hits\tnew\tkind\tsize\tfunction_offset\tfunction\toffset\tmodule\n"
      "7\tx\texact\t4\t0x0\ttab\\there\\\\\t0x10\t/bin/demo\n",
      "blocks.tsv");
  ASSERT_TRUE(functions) << functions.error().message();
  EXPECT_EQ(functions->at(0).name, "tab\there\\");
  EXPECT_EQ(functions->at(0).blocks.at(0).hits, 7U);
}

TEST(AnnotateRun, says_where_a_file_is_damaged) {
  const auto no_columns = parse_blocks("a\tb\n", "x/blocks.tsv");
  ASSERT_FALSE(no_columns);
  EXPECT_EQ(no_columns.error().message(), "x/blocks.tsv does not have the columns of a blocks.tsv");
  for (const std::string& bad :
       {row("/bin/demo", "0x10", "main", "0x20", "1"), row("/bin/demo", "0x10", "main", "0x0", "-"),
        row("/bin/demo", "zz", "main", "0x0", "1"), std::string("/bin/demo\t0x1"),
        std::string("\n")}) {
    const auto damaged =
        parse_blocks(kHeader + row("/bin/demo", "0x10", "f", "0x0", "1") + bad, "x/blocks.tsv");
    ASSERT_FALSE(damaged) << bad;
    EXPECT_EQ(damaged.error().message(),
              "x/blocks.tsv is damaged: line 3 is no row of a blocks.tsv");
  }
  EXPECT_FALSE(parse_blocks("", "x"));
  EXPECT_TRUE(parse_blocks(kHeader, "x")->empty());
}

TEST(AnnotateRun, says_what_is_missing) {
  const auto none = read_run("/nonexistent");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("there is no run in /nonexistent"), std::string::npos);
}

}  // namespace
}  // namespace sp::annotate
