// --trace of a Rust program: names of both manglings, panics that are caught, closures.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "end_to_end/trace_oracles.h"

namespace sp::end_to_end {
namespace {

using Closings = std::map<std::string, std::uint64_t>;

/// Of functions whose names begin so.
std::uint64_t calls_of(const std::map<std::string, Calls>& calls, const std::string& begin) {
  std::uint64_t sum = 0;
  for (auto row = calls.lower_bound(begin); row != calls.end() && row->first.starts_with(begin);
       ++row) {
    sum += row->second.calls;
  }
  return sum;
}

class TraceOfRust : public testing::TestWithParam<Way> {};

TEST_P(TraceOfRust, has_the_calls_of_single_under_their_names_in_the_source) {
  if (!has_program("rustc")) {
    GTEST_SKIP() << "rustc is not installed";
  }
  const TempDir directory;
  Words compiler{"rustc", "--edition", "2021", "-C", "opt-level=0"};
  compiler.insert(compiler.end(), GetParam().options.begin(), GetParam().options.end());
  const std::string program = compile(directory, compiler, "panics.rs");
  const Counts single = single_calls(directory, program);
  const TracedProgram traced = trace(directory, {"-a"}, program);
  EXPECT_EQ(traced.out, run({program}).out);
  const auto& calls = traced.calls;
  for (const auto& [function, of] : calls) {
    EXPECT_FALSE(function.starts_with("_ZN") || function.starts_with("_R")) << function;
    const auto exact = single.find(function);
    EXPECT_EQ(of.calls, exact == single.end() ? 0 : exact->second) << function;
  }
  for (const auto& [function, number] : single) {
    if (function.find("panics::") != std::string::npos) {
      EXPECT_TRUE(calls.contains(function)) << function << ": " << number << " calls";
    }
  }
  EXPECT_EQ(calls_of(calls, "panics::fib"), 41U);
  EXPECT_EQ(calls_of(calls, "panics::leaf"), 6U + 3U + 24U + 4U);
  EXPECT_EQ(calls_of(calls, "panics::twice"), 2U);
  EXPECT_EQ(calls_of(calls, "panics::main::{"), 12U + 3U);  // for calls_back, and the hook
  EXPECT_EQ(calls_of(calls, "<panics::Guard as core::ops::drop::Drop>::drop"), 6U);
  EXPECT_EQ(calls_of(calls, "<panics::Square as panics::Shape>::sides"), 4U);
  for (const char* const passed : {"panics::panics", "panics::passes"}) {
    ASSERT_TRUE(calls.contains(passed)) << passed;
    EXPECT_EQ(calls.at(passed).closings, (Closings{{"returned", 3}, {"unwound", 3}})) << passed;
  }
  ASSERT_TRUE(calls.contains("panics::catches"));
  EXPECT_EQ(calls.at("panics::catches").closings, (Closings{{"returned", 6}}));
}
INSTANTIATE_TEST_SUITE_P(WithNames, TraceOfRust,
                         testing::Values(Way{"of_the_default", {}},
                                         Way{"of_v0", {"-C", "symbol-mangling-version=v0"}}),
                         name_of_way);

}  // namespace
}  // namespace sp::end_to_end
