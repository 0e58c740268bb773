#include "analyzer/decoder_cross_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "arch/native.h"
#include "unit/arch/bytes.h"

namespace sp::analyzer {
namespace {

using core::Address;

struct Step {
  std::uint64_t pc = 0;
  std::string_view hex;
};

core::Stepped stepped(const std::vector<Step>& steps) {
  core::Stepped window;
  for (const Step& step : steps) {
    core::Stepped::At at{Address{step.pc}, 0, {}};
    const auto bytes = arch::bytes_of(step.hex);
    std::copy(bytes.begin(), bytes.end(), at.code.begin());
    at.size = static_cast<std::uint8_t>(bytes.size());
    window.path.push_back(at);
  }
  return window;
}

std::vector<Address> at(std::initializer_list<std::uint64_t> values) {
  std::vector<Address> addresses;
  for (const std::uint64_t value : values) {
    addresses.push_back(Address{value});
  }
  return addresses;
}

/// The bytes are x86-64 code.
class BranchFinderX86 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (arch::Native::kName != "x86_64") {
      GTEST_SKIP() << "decodes x86-64 code with the decoder of this CPU";
    }
  }
  DecoderCrossCheck finder_;
};

TEST_F(BranchFinderX86, learns_transfers_and_where_they_go) {
  // je not taken, nop, jmp, ret
  const auto observation = finder_.observe(
      stepped({{0x10, "7430"}, {0x12, "90"}, {0x13, "eb0b"}, {0x20, "c3"}, {0x90, "90"}}));
  EXPECT_EQ(observation.steps, 4U);
  EXPECT_EQ(observation.branches, at({0x13, 0x20}));
  EXPECT_EQ(observation.leaders, at({0x12, 0x20, 0x90}));
  EXPECT_TRUE(observation.mismatches.empty());
  EXPECT_EQ(finder_.encodings().size(), 2U);
}

TEST_F(BranchFinderX86, tells_everything_once) {
  const auto window = stepped({{0x13, "eb0b"}, {0x20, "c3"}, {0x90, "90"}});
  EXPECT_FALSE(finder_.observe(window).branches.empty());
  const auto again = finder_.observe(window);
  EXPECT_TRUE(again.branches.empty());
  EXPECT_TRUE(again.leaders.empty());
  EXPECT_EQ(again.steps, 2U);
}

TEST_F(BranchFinderX86, takes_repetitions_and_system_calls_for_straight_code) {
  const auto observation = finder_.observe(
      stepped({{0x10, "f3a4"}, {0x10, "f3a4"}, {0x12, "0f05"}, {0x12, "0f05"}, {0x14, "90"}}));
  EXPECT_TRUE(observation.branches.empty());
  EXPECT_TRUE(observation.leaders.empty());
  EXPECT_TRUE(observation.mismatches.empty());
}

TEST_F(BranchFinderX86, keeps_what_the_decoder_had_not_foreseen) {
  const auto window = stepped({{0x10, "90"}, {0x50, "06"}, {0x51, "eb00"}, {0x70, "90"}});
  const auto observation = finder_.observe(window);
  ASSERT_EQ(observation.mismatches.size(), 3U);
  EXPECT_EQ(observation.mismatches[0].address, Address{0x10});
  EXPECT_EQ(observation.mismatches[0].went_to, Address{0x50});
  EXPECT_EQ(observation.mismatches[0].decoded->flow, core::Flow::next);
  EXPECT_FALSE(observation.mismatches[1].decoded);
  EXPECT_EQ(observation.mismatches[2].decoded->target, Address{0x53});
  EXPECT_EQ(observation.branches, at({0x10, 0x51}));
  EXPECT_TRUE(finder_.observe(window).mismatches.empty());
}

TEST_F(BranchFinderX86, learns_nothing_where_the_code_could_not_be_read) {
  const auto observation = finder_.observe(stepped({{0x10, ""}, {0x50, "90"}, {0x51, "90"}}));
  EXPECT_EQ(observation.steps, 2U);
  EXPECT_TRUE(observation.branches.empty() && observation.mismatches.empty());
}

TEST_F(BranchFinderX86, makes_one_kind_of_branches_to_different_places) {
  const auto observation = finder_.observe(
      stepped({{0x10, "7410"}, {0x22, "7420"}, {0x44, "0f8416000000"}, {0x60, "90"}}));
  EXPECT_EQ(observation.branches.size(), 3U);
  EXPECT_EQ(finder_.encodings().size(), 2U);
}

}  // namespace
}  // namespace sp::analyzer
