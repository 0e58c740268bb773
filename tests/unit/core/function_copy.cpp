#include "core/function_copy.h"

#include <gtest/gtest.h>

#include <vector>

namespace sp::core {
namespace {

using Form = CopyLanding::Form;

constexpr Address kStart{0x1000};
constexpr Address kCopy{0x9000};
constexpr CopyUndo kUndo{136, {{{0, -8}}}};

CopyLanding landing(std::uint64_t offset, Form form, std::uint8_t size) {
  CopyLanding landing;
  landing.at = kStart + offset;
  landing.form = form;
  landing.size = size;
  return landing;
}

/// Blocks at 0, 0x10 and 0x20, with a gap in front of the last one. The first has instructions at
/// 0, 3 and a call at 8, which stays in the original; the second ends in a jump out of the
/// function.
FunctionCopy make_copy() {
  FunctionCopy copy;
  copy.original = {kStart, kStart + 0x40};
  copy.at = kCopy;
  copy.code.resize(0x50);
  copy.blocks = {{kStart, 0x10, kCopy, 0},
                 {kStart + 0x10, 8, kCopy + 0x20, 8},
                 {kStart + 0x20, 0x10, kCopy + 0x30, 16}};
  copy.undos.push_back(kUndo);
  copy.outside = {kStart + 0x8000};
  copy.map = {{0x00, 0, 0x00, 0, 0, 1, 0}, {0x09, 0, 0x00, 0, 1, 0, 0}, {0x0C, 0, 0x03, 0, 1, 1, 0},
              {0x10, 0, 0x08, 0, 1, 0, 0}, {0x20, 0, 0x10, 0, 0, 0, 0}, {0x28, 0, 0x10, 0, 0, 1, 1},
              {0x2B, 0, 0x00, 1, 1, 0, 0}, {0x30, 0, 0x20, 0, 0, 1, 0}};
  return copy;
}

std::vector<Address> changes_from(const FunctionCopy& copy, std::uint64_t offset) {
  std::vector<Address> found;
  for (const CopyLanding* const change : copy.changes_from(kStart + offset)) {
    found.push_back(change->at);
  }
  return found;
}

TEST(FunctionCopy, finds_the_block_around_an_address) {
  const FunctionCopy copy = make_copy();
  EXPECT_EQ(copy.block_of(kStart), 0U);
  EXPECT_EQ(copy.block_of(kStart + 0x0F), 0U);
  EXPECT_EQ(copy.block_of(kStart + 0x10), 1U);
  EXPECT_EQ(copy.block_of(kStart + 0x2F), 2U);
  EXPECT_EQ(copy.block_of(kStart - 1), std::nullopt);
  EXPECT_EQ(copy.block_of(kStart + 0x18), std::nullopt);
  EXPECT_EQ(copy.block_of(kStart + 0x30), std::nullopt);
}

TEST(FunctionCopy, knows_what_a_thread_at_each_of_its_instructions_does_next) {
  const FunctionCopy copy = make_copy();
  const auto counted = copy.to_original(kCopy + 0x0C);
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->original, kStart + 3);
  EXPECT_EQ(counted->block, 0U);
  EXPECT_TRUE(counted->is_counted);
  EXPECT_EQ(counted->undo, CopyUndo{});
  const auto within = copy.to_original(kCopy + 0x28);
  ASSERT_TRUE(within);
  EXPECT_EQ(within->original, kStart + 0x10);
  EXPECT_EQ(within->block, 1U);
  EXPECT_FALSE(within->is_counted);
  EXPECT_EQ(within->undo, kUndo);
}

TEST(FunctionCopy, has_no_point_where_none_of_its_instructions_begins) {
  const FunctionCopy copy = make_copy();
  EXPECT_FALSE(copy.to_original(kCopy - 1));
  EXPECT_FALSE(copy.to_original(kCopy + 1));
  EXPECT_FALSE(copy.to_original(kCopy + 0x31));
  EXPECT_FALSE(copy.to_original(kCopy + 0x50));
}

TEST(FunctionCopy, says_which_block_a_jump_out_of_the_function_is_of) {
  const auto point = make_copy().to_original(kCopy + 0x2B);
  ASSERT_TRUE(point);
  EXPECT_EQ(point->original, kStart + 0x8000);
  EXPECT_EQ(point->block, 1U);
}

TEST(FunctionCopy, is_entered_only_where_the_copy_has_the_instruction) {
  const FunctionCopy copy = make_copy();
  EXPECT_EQ(copy.to_copy(kStart), kCopy);
  EXPECT_EQ(copy.to_copy(kStart + 3), kCopy + 0x0C);
  EXPECT_EQ(copy.to_copy(kStart + 0x10), kCopy + 0x28);  // not the sequence's first instruction
  EXPECT_EQ(copy.to_copy(kStart + 0x20), kCopy + 0x30);
  EXPECT_EQ(copy.to_copy(kStart + 1), std::nullopt);
  EXPECT_EQ(copy.to_copy(kStart + 8), std::nullopt);     // the call
  EXPECT_EQ(copy.to_copy(kStart + 0x18), std::nullopt);  // in no block
  EXPECT_EQ(copy.to_copy(kStart + 0x8000), std::nullopt);
}

TEST(FunctionCopyChanges, are_of_the_jump_that_covers_pc) {
  FunctionCopy copy = make_copy();
  copy.landings = {landing(0, Form::jump, 5), landing(0x10, Form::jump, 5)};
  EXPECT_EQ(changes_from(copy, 3), std::vector{kStart});
  EXPECT_EQ(changes_from(copy, 4), std::vector{kStart});
  EXPECT_EQ(changes_from(copy, 5), std::vector<Address>{});
}

TEST(FunctionCopyChanges, are_none_where_a_landing_begins) {
  FunctionCopy copy = make_copy();
  // The first jump's bytes reach over the second landing.
  copy.landings = {landing(0, Form::jump, 5), landing(3, Form::breakpoint, 0),
                   landing(0x10, Form::jump, 5)};
  EXPECT_EQ(changes_from(copy, 0), std::vector<Address>{});
  EXPECT_EQ(changes_from(copy, 3), std::vector<Address>{});
  EXPECT_EQ(changes_from(copy, 4), std::vector{kStart});
  EXPECT_EQ(changes_from(copy, 0x10), std::vector<Address>{});
}

TEST(FunctionCopyChanges, include_a_second_jump_ahead_in_the_straight_line_code) {
  FunctionCopy copy = make_copy();
  copy.landings = {landing(0, Form::jump, 2), landing(0x20, Form::jump, 2)};
  copy.landings[1].via = kStart + 8;
  copy.landings[1].via_size = 5;
  EXPECT_EQ(changes_from(copy, 4), std::vector{kStart + 0x20});
  EXPECT_EQ(changes_from(copy, 0x0C), std::vector{kStart + 0x20});
  EXPECT_EQ(changes_from(copy, 0x0D), std::vector<Address>{});
  EXPECT_EQ(changes_from(copy, 1), (std::vector{kStart, kStart + 0x20}));
}

TEST(FunctionCopyChanges, end_at_the_next_landing) {
  FunctionCopy copy = make_copy();
  copy.landings = {landing(0, Form::jump, 2), landing(0x10, Form::breakpoint, 0),
                   landing(0x20, Form::jump, 2)};
  copy.landings[2].via = kStart + 0x18;
  copy.landings[2].via_size = 5;
  EXPECT_EQ(changes_from(copy, 8), std::vector<Address>{});
  EXPECT_EQ(changes_from(copy, 0x11), std::vector{kStart + 0x20});
}

TEST(FunctionCopyChanges, are_none_behind_the_last_change) {
  FunctionCopy copy = make_copy();
  copy.landings = {landing(0, Form::jump, 5), landing(0x20, Form::jump, 5)};
  EXPECT_EQ(changes_from(copy, 0x24), std::vector{kStart + 0x20});
  EXPECT_EQ(changes_from(copy, 0x25), std::vector<Address>{});
}

TEST(FunctionCopyChanges, are_not_made_by_breakpoints) {
  FunctionCopy copy = make_copy();
  copy.landings = {landing(0, Form::breakpoint, 5)};
  EXPECT_EQ(changes_from(copy, 3), std::vector<Address>{});
}

}  // namespace
}  // namespace sp::core
