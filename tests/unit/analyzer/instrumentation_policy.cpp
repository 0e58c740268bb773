#include "analyzer/instrumentation_policy.h"

#include <gtest/gtest.h>

#include <vector>

namespace sp::analyzer {
namespace {

using core::Address;

constexpr core::ProcessId kProcess{100, 1};

PolicyFrame frame(std::uint64_t address, bool is_instrumentable = true) {
  return {Address{address}, {core::ModuleId{1}, address & ~0xFFULL}, is_instrumentable};
}

std::vector<Address> at(std::initializer_list<std::uint64_t> values) {
  std::vector<Address> addresses;
  for (const std::uint64_t value : values) {
    addresses.push_back(Address{value});
  }
  return addresses;
}

TEST(InstrumentationPolicy, asks_for_the_innermost_and_for_what_is_deep) {
  InstrumentationPolicy policy(3);
  const std::vector<PolicyFrame> stack = {frame(0x110), frame(0x210), frame(0x310), frame(0x410),
                                          frame(0x510)};
  EXPECT_EQ(policy.choose(kProcess, stack), at({0x110, 0x410, 0x510}));
}

TEST(InstrumentationPolicy, asks_for_all_where_the_depth_is_zero) {
  InstrumentationPolicy policy(0);
  const std::vector<PolicyFrame> stack = {frame(0x110), frame(0x210), frame(0x310)};
  EXPECT_EQ(policy.choose(kProcess, stack), at({0x110, 0x210, 0x310}));
}

TEST(InstrumentationPolicy, leaves_other_modules_alone_but_counts_their_frames) {
  InstrumentationPolicy policy(2);
  const std::vector<PolicyFrame> stack = {frame(0x110, false), frame(0x210), frame(0x310)};
  EXPECT_EQ(policy.choose(kProcess, stack), at({0x310}));
}

TEST(InstrumentationPolicy, asks_once_for_a_function_of_a_process) {
  InstrumentationPolicy policy(1);
  const std::vector<PolicyFrame> stack = {frame(0x110), frame(0x120), frame(0x210)};
  EXPECT_EQ(policy.choose(kProcess, stack), at({0x110, 0x210}));
  EXPECT_TRUE(policy.choose(kProcess, stack).empty());
  EXPECT_EQ(policy.choose({101, 2}, stack), at({0x110, 0x210}));
  policy.forget(kProcess);
  EXPECT_EQ(policy.choose(kProcess, stack), at({0x110, 0x210}));
  EXPECT_TRUE(policy.choose({101, 2}, stack).empty());
}

TEST(InstrumentationPolicy, begins_anew_when_it_is_full) {
  InstrumentationPolicy policy(0, 2);
  EXPECT_EQ(policy.choose(kProcess, std::vector{frame(0x110), frame(0x210)}), at({0x110, 0x210}));
  EXPECT_EQ(policy.choose(kProcess, std::vector{frame(0x310)}), at({0x310}));
  EXPECT_EQ(policy.choose(kProcess, std::vector{frame(0x110)}), at({0x110}));
}

}  // namespace
}  // namespace sp::analyzer
