#include "profiler/named_code.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/profiler/counted.h"

namespace sp::profiler {
namespace {

using test::Counted;
using test::EdgeFlow;

class NamedCodeTest : public testing::Test {
 protected:
  /// `function` covers [start, end).
  void define(const std::string& function, std::uint64_t start, std::uint64_t end) {
    for (std::uint64_t offset = start; offset < end; ++offset) {
      symbols::NamedFrame frame = test::named(function, "/src/demo.c", 1);
      frame.source->line = static_cast<std::uint32_t>(offset);
      frame.start = start;
      namer_.set(test::at(offset), {frame});
    }
  }
  NamedCode named(const Counted& counted) {
    CodeProfile profile;
    profile.add(counted.taken());
    return name_code(profile, namer_, 1);
  }
  static std::uint64_t calls(const NamedCode& code, const std::string& function) {
    const auto found = std::find_if(code.functions.begin(), code.functions.end(),
                                    [&](const CodeFunction& f) { return f.name == function; });
    EXPECT_NE(found, code.functions.end()) << function;
    return found == code.functions.end() ? 0 : found->calls;
  }

  test::TableNamer namer_;
};

TEST_F(NamedCodeTest, calls_are_what_comes_into_the_first_block) {
  define("main", 0x10, 0x30);
  define("work", 0x40, 0x50);
  const NamedCode code = named(Counted()
                                   .run(0x10, {1, 5})
                                   .run(0x16, {1, 5})
                                   .run(0x1c, {2})
                                   .run(0x40, {1, 1})
                                   .enter(0x10)
                                   .edge(0x11, 0x40, EdgeFlow::call, 1)
                                   .edge(0x41, 0x16, EdgeFlow::ret, 1)
                                   .edge(0x17, 0x40, EdgeFlow::call, 8)
                                   .edge(0x41, 0x1c, EdgeFlow::ret, 8));
  EXPECT_EQ(calls(code, "main"), 1U) << "whoever started it called it";
  EXPECT_EQ(calls(code, "work"), 9U);
}

TEST_F(NamedCodeTest, recursion_is_calls_and_a_loop_to_the_start_is_none) {
  define("fib", 0x10, 0x30);
  define("spin", 0x40, 0x50);
  const NamedCode code = named(Counted()
                                   .run(0x10, {1, 5})
                                   .run(0x40, {2})
                                   .enter(0x10)
                                   .edge(0x11, 0x10, EdgeFlow::call, 6)
                                   .enter(0x40)
                                   .edge(0x40, 0x40, EdgeFlow::taken, 1000));
  EXPECT_EQ(calls(code, "fib"), 7U);
  EXPECT_EQ(calls(code, "spin"), 1U);
}

TEST_F(NamedCodeTest, a_tail_call_is_a_call) {
  define("first", 0x10, 0x20);
  define("second", 0x20, 0x30);
  define("stub", 0x30, 0x40);
  const NamedCode code = named(Counted()
                                   .run(0x10, {5})
                                   .run(0x20, {2})
                                   .run(0x30, {6})
                                   .enter(0x10, 3)
                                   .edge(0x10, 0x20, EdgeFlow::jump, 3)
                                   .enter(0x30, 2)
                                   .edge(0x30, 0x20, EdgeFlow::indirect, 2));
  EXPECT_EQ(calls(code, "second"), 5U);
}

TEST_F(NamedCodeTest, coming_back_into_the_middle_is_no_call) {
  define("main", 0x10, 0x30);
  const NamedCode code = named(Counted()
                                   .run(0x10, {5})
                                   .run(0x15, {1})
                                   .enter(0x10)
                                   .edge(0x99, 0x15, EdgeFlow::ret, 4)
                                   .edge(0x15, 0x15, EdgeFlow::jump, 1));
  EXPECT_EQ(calls(code, "main"), 1U);
}

TEST_F(NamedCodeTest, a_function_stands_at_the_line_where_it_executed_most) {
  define("main", 0x10, 0x30);
  const NamedCode code = named(test::loop(100));
  ASSERT_EQ(code.functions.size(), 1U);
  EXPECT_EQ(code.functions[0].source, "/src/demo.c:24") << "0x18";
}

TEST_F(NamedCodeTest, the_hottest_come_first) {
  const NamedCode code = named(test::loop(100));
  ASSERT_EQ(code.blocks.size(), 3U);
  EXPECT_EQ(code.blocks[0].block.start.offset, 0x18U);
  EXPECT_EQ(code.blocks[1].block.start.offset, 0x10U);
  EXPECT_EQ(code.blocks[2].block.start.offset, 0x20U);
  EXPECT_EQ(code.edges.front().hits, 99U);
}

TEST_F(NamedCodeTest, calls_join_the_rows_that_have_samples) {
  define("main", 0x10, 0x30);
  const NamedCode code = named(test::loop(3));
  const std::vector<core::Module> modules = {
      test::module(test::kProgram, core::ModuleKind::file, "/usr/bin/demo")};
  std::vector<Function> rows = {{"main", "/usr/bin/demo", "/src/demo.c:9"},
                                {"main", "/usr/bin/other", ""}};
  add_calls(rows, code, modules);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].calls, 1U);
  EXPECT_EQ(rows[0].source, "/src/demo.c:9");
  EXPECT_FALSE(rows[1].calls.has_value());
  rows.clear();
  add_calls(rows, code, modules);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].module, "/usr/bin/demo");
}

}  // namespace
}  // namespace sp::profiler
