#include "commands/run_files/function_table.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "symbols/demangle.h"
#include "unit/symbols/elf_builder.h"

namespace sp::run_files {
namespace {

using Answers = std::map<std::string, std::string>;

std::shared_ptr<const core::ElfImage> some_functions() {
  test::ElfBuilder builder;
  const auto text = builder.add_code(".text", 0x1000, 0x100);  // NOPs
  builder.add_symbol({"_ZN2ns3fooEi", 0x1000, 0x10, text});
  builder.add_symbol({"bar@@V_2.1", 0x1010, 0x20, text});
  builder.add_symbol({"bar.cold", 0x1040, 0x10, text});
  builder.add_symbol({"unsized", 0x1080, 0, text});
  builder.set_build_id("abc");
  return builder.build_image();
}

/// The reasons by demangled name.
Answers reasons(const FunctionTableInput& input) {
  Answers answers;
  for (const TabledFunction& one : function_table(input)) {
    answers[one.row.demangled_name] = one.row.reason;
    EXPECT_EQ(one.row.is_instrumented, one.row.place == "breakpoint") << one.row.demangled_name;
  }
  return answers;
}

FunctionTableInput input_of(const std::shared_ptr<const core::ElfImage>& image) {
  FunctionTableInput input;
  input.image = image;
  input.path = "/opt/prog";
  return input;
}

TEST(FunctionTable, has_what_is_known_of_each_function) {
  auto input = input_of(some_functions());
  input.has_instructions = true;
  const auto table = function_table(input);
  ASSERT_EQ(table.size(), 4U);
  const profiler::SymbolRow& bar = table[1].row;
  EXPECT_EQ(bar.id, 0x32D153FF00001010U);
  EXPECT_EQ(bar.module, "/opt/prog");
  EXPECT_EQ(bar.build_id, "616263");
  EXPECT_EQ(bar.offset, 0x1010U);
  EXPECT_EQ(bar.size, 0x20U);
  EXPECT_EQ(bar.linkage_name, "bar");
  EXPECT_EQ(bar.demangled_name, "bar");
  EXPECT_EQ(bar.instructions, 0x20U);
  EXPECT_EQ(bar.place, "breakpoint");
  EXPECT_TRUE(bar.is_instrumented);
  EXPECT_EQ(table[1].function.begin, 0x1010U);
  EXPECT_EQ(table[3].row.size, 0U) << "nothing tells where it ends";
  EXPECT_EQ(table[3].row.instructions, std::nullopt);
  input.has_instructions = false;
  EXPECT_EQ(function_table(input)[1].row.instructions, std::nullopt);
  input.module_hash = 7;
  EXPECT_EQ(function_table(input)[0].row.id, 0x0000000700001000U);
}

TEST(FunctionTable, tells_the_first_reason_that_applies) {
  auto input = input_of(some_functions());
  EXPECT_EQ(reasons(input), (Answers{{"ns::foo(int)", "default"},
                                     {"bar", "default"},
                                     {"bar.cold", "part-of:bar"},
                                     {"unsized", "no-bounds"}}));
  input.selection.only_funcs = {"ns::foo"};
  EXPECT_EQ(reasons(input), (Answers{{"ns::foo(int)", "default"},
                                     {"bar", "option:--only-funcs"},
                                     {"bar.cold", "part-of:bar"},
                                     {"unsized", "option:--only-funcs"}}));
}

TEST(FunctionTable, takes_a_function_for_a_part_only_if_its_name_ends_like_one) {
  test::ElfBuilder builder;
  const auto text = builder.add_code(".text", 0x1000, 0x100);
  builder.add_symbol({"main", 0x1000, 0x10, text});
  builder.add_symbol({"main.coldStart", 0x1010, 0x10, text});
  builder.add_symbol({"main.coldStart.cold.2", 0x1020, 0x10, text});
  auto input = input_of(builder.build_image());
  const std::string part = symbols::demangle("main.coldStart.cold.2");
  EXPECT_EQ(reasons(input), (Answers{{"main", "default"},
                                     {"main.coldStart", "default"},
                                     {part, "part-of:main.coldStart"}}));
  input.selection.only_funcs = {"main"};
  EXPECT_EQ(reasons(input), (Answers{{"main", "default"},
                                     {"main.coldStart", "option:--only-funcs"},
                                     {part, "part-of:main.coldStart"}}));
}

TEST(FunctionTable, judges_by_rules_and_finds_what_they_ask_for) {
  symbols::FilterRule small{"small"};
  small.bounds.push_back({symbols::FilterRule::Measure::instructions, true, 0x20});
  symbols::FilterRule named{"named"};
  named.texts.push_back(
      {symbols::FilterRule::Subject::linkage_name, *symbols::WholeRegex::compile("unsized|bar")});
  named.logs_first_argument = true;
  const symbols::FunctionFilters filters({{small}, {named}});
  auto input = input_of(some_functions());
  input.filters = &filters;
  EXPECT_EQ(reasons(input), (Answers{{"ns::foo(int)", "block:small"},
                                     {"bar", "allow:named"},
                                     {"bar.cold", "part-of:bar"},
                                     {"unsized", "no-bounds"}}));
  EXPECT_TRUE(function_table(input)[1].logs_first_argument);
  EXPECT_FALSE(function_table(input)[3].logs_first_argument) << "it is not traced";
}

}  // namespace
}  // namespace sp::run_files
