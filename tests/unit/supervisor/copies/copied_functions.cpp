#include "supervisor/copies/copied_functions.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace sp::supervisor {
namespace {

using core::Address;
using core::AddressRange;
using Copies = std::vector<CopiedFunctions::Copy>;

constexpr std::uint64_t kSize = 0x10;      // of every function
constexpr std::uint64_t kCopySize = 0x20;  // and of its copy

CopiedFunctions::Copy copy_of(std::uint64_t original, std::uint64_t at) {
  core::FunctionCopy copy;
  copy.original = {Address{original}, Address{original + kSize}};
  copy.at = Address{at};
  copy.code.resize(kCopySize);
  return std::make_shared<const core::FunctionCopy>(std::move(copy));
}

class CopiedFunctionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    functions_.add(first_);
    functions_.add(second_);
  }

  // In memory the copies are in another order than the functions.
  CopiedFunctions::Copy first_ = copy_of(0x1000, 0x9100);
  CopiedFunctions::Copy second_ = copy_of(0x1100, 0x9000);
  CopiedFunctions functions_;
};

TEST_F(CopiedFunctionsTest, are_found_by_an_address_in_the_copy) {
  EXPECT_EQ(functions_.at(Address{0x9100}), first_);
  EXPECT_EQ(functions_.at(Address{0x911F}), first_);
  EXPECT_EQ(functions_.at(Address{0x9000}), second_);
  EXPECT_EQ(functions_.at(Address{0x9020}), nullptr);
  EXPECT_EQ(functions_.at(Address{0x8FFF}), nullptr);
  EXPECT_EQ(functions_.at(Address{0x1000}), nullptr);
}

TEST_F(CopiedFunctionsTest, are_found_by_an_address_in_the_original) {
  EXPECT_EQ(functions_.of(Address{0x1000}), first_);
  EXPECT_EQ(functions_.of(Address{0x100F}), first_);
  EXPECT_EQ(functions_.of(Address{0x1100}), second_);
  EXPECT_EQ(functions_.of(Address{0x1010}), nullptr);
  EXPECT_EQ(functions_.of(Address{0xFFF}), nullptr);
  EXPECT_EQ(functions_.of(Address{0x9000}), nullptr);
}

TEST_F(CopiedFunctionsTest, tell_which_landing_a_second_jump_belongs_to) {
  core::FunctionCopy with = *first_;
  core::CopyLanding landing;
  landing.at = Address{0x1004};
  landing.via = Address{0x1200};  // not in the function
  landing.via_size = 5;
  core::CopyLanding breakpoint;
  breakpoint.at = Address{0x1000};
  with.landings = {breakpoint, landing};
  functions_.add(std::make_shared<const core::FunctionCopy>(with));
  EXPECT_EQ(functions_.leader_of_second_jump(Address{0x1200}), Address{0x1004});
  EXPECT_FALSE(functions_.leader_of_second_jump(Address{0x1204}));
  EXPECT_FALSE(functions_.leader_of_second_jump(Address{0x1000}));
  functions_.add(first_);  // with other landings
  EXPECT_FALSE(functions_.leader_of_second_jump(Address{0x1200}));
  functions_.add(std::make_shared<const core::FunctionCopy>(with));
  functions_.remove(first_->original.begin);
  EXPECT_FALSE(functions_.leader_of_second_jump(Address{0x1200}));
}

TEST_F(CopiedFunctionsTest, are_listed_by_a_range_that_overlaps_the_original) {
  const auto in = [this](std::uint64_t begin, std::uint64_t end) {
    return functions_.in({Address{begin}, Address{end}});
  };
  EXPECT_EQ(in(0x100F, 0x1101), (Copies{first_, second_}));
  EXPECT_EQ(in(0x1010, 0x1101), Copies{second_});
  EXPECT_EQ(in(0x1010, 0x1100), Copies{});
  EXPECT_EQ(in(0x1004, 0x1005), Copies{first_});
}

TEST_F(CopiedFunctionsTest, are_forgotten_by_both_addresses) {
  functions_.remove(Address{0x1000});
  functions_.remove(Address{0x1108});  // not where a function begins
  EXPECT_EQ(functions_.of(Address{0x1000}), nullptr);
  EXPECT_EQ(functions_.at(Address{0x9100}), nullptr);
  EXPECT_EQ(functions_.all(), Copies{second_});
  EXPECT_EQ(functions_.size(), 1U);
  EXPECT_FALSE(functions_.empty());
  functions_.remove(Address{0x1100});
  EXPECT_TRUE(functions_.empty());
}

TEST_F(CopiedFunctionsTest, take_the_place_of_the_same_copy) {
  const auto other = copy_of(0x1000, 0x9100);
  functions_.add(other);
  EXPECT_EQ(functions_.at(Address{0x9100}), other);
  EXPECT_EQ(functions_.all(), (Copies{other, second_}));
  EXPECT_EQ(functions_.size(), 2U);
}

}  // namespace
}  // namespace sp::supervisor
