#include "supervisor/copies/thread_moves.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "unit/arch/pretended_memory.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

constexpr Address kStart{0x1000};
constexpr Address kCopy{0x9000};
constexpr std::uint64_t kStack = 0x7000;
constexpr std::uint64_t kCounter = 0x40000000;  // of the first block
constexpr std::uint64_t kBranch = kCounter + 16;
constexpr std::uint8_t kSpilled = 3;  // a general register

Native::Registers registers_at(Address pc) {
  Native::Registers registers;
  Native::set_pc(registers, pc);
  Native::move_sp(registers, kStack);
  Native::general_register(registers, kSpilled) = 5;
  return registers;
}

/// Blocks at 0 and 0x10. The first one's counter needs a register, which is spilled meanwhile; an
/// instruction stands in front of it. The second one ends in a jump out of the function.
class ThreadMoves : public ::testing::Test {
 protected:
  void SetUp() override {
    copy_.original = {kStart, kStart + 0x20};
    copy_.at = kCopy;
    copy_.code.resize(0x40);
    copy_.blocks = {{kStart, 0x10, kCopy, kCounter},
                    {kStart + 0x10, 0x10, kCopy + 0x20, kCounter + 8}};
    copy_.undos.push_back({136, {{{kSpilled, 16}}}, core::CopyUndo::kNoFlags});
    copy_.outside = {kStart + 0x8000};
    copy_.map = {{0x00, 0, 0x00, 0, 0, 1, 0}, {0x03, 0, 0x03, 0, 0, 1, 0},
                 {0x06, 0, 0x06, 0, 0, 0, 1}, {0x09, 0, 0x06, 0, 1, 0, 1},
                 {0x0C, 0, 0x06, 0, 1, 1, 0}, {0x0F, 0, 0x00, 0, 1, 0, 0},
                 {0x14, 1, 0x10, 0, 0, 0, 0}, {0x20, 0, 0x10, 0, 0, 1, 0},
                 {0x29, 0, 0x10, 0, 1, 0, 0}, {0x2C, 0, 0x00, 1, 1, 0, 0}};
    copy_.branches = {{0, core::CopiedBranch::Counted::next, kStart, kStart + 0x10, kBranch}};
  }

  [[nodiscard]] std::optional<ThreadMove> out(std::uint64_t offset) {
    return move_to_original(copy_, registers_at(kCopy + offset), memory_);
  }
  [[nodiscard]] std::optional<ThreadMove> in(std::uint64_t offset, bool is_counted) {
    return move_to_copy(copy_, registers_at(kStart + offset), is_counted);
  }

  core::FunctionCopy copy_;
  arch::PretendedMemory memory_;
};

TEST_F(ThreadMoves, out_of_the_copy_change_nothing_but_pc) {
  const auto move = out(0x0C);
  ASSERT_TRUE(move);
  EXPECT_EQ(move->registers, registers_at(kStart + 6));
  EXPECT_EQ(move->correction.counter, kCounter);
  EXPECT_EQ(move->correction.executions, 0);
}

TEST_F(ThreadMoves, out_of_the_copy_count_what_its_counter_is_still_ahead_of) {
  const auto move = out(0x03);
  ASSERT_TRUE(move);
  EXPECT_EQ(Native::pc(move->registers), kStart + 3);
  EXPECT_EQ(move->correction.executions, 1);
}

TEST_F(ThreadMoves, to_a_leader_take_back_what_the_landing_will_count) {
  const auto uncounted = out(0x20);
  ASSERT_TRUE(uncounted);
  EXPECT_EQ(Native::pc(uncounted->registers), kStart + 0x10);
  EXPECT_EQ(uncounted->correction.executions, 0);
  const auto counted = out(0x29);
  ASSERT_TRUE(counted);
  EXPECT_EQ(Native::pc(counted->registers), kStart + 0x10);
  EXPECT_EQ(counted->correction.executions, -1);
  EXPECT_EQ(counted->correction.counter, kCounter + 8);
}

TEST_F(ThreadMoves, out_of_the_function_leave_the_count) {
  for (const bool is_counted : {true, false}) {
    copy_.map.back().is_counted = is_counted ? 1U : 0U;
    const auto move = out(0x2C);
    ASSERT_TRUE(move);
    EXPECT_EQ(Native::pc(move->registers), kStart + 0x8000);
    EXPECT_EQ(move->correction.executions, 0);
  }
}

TEST_F(ThreadMoves, undo_a_half_done_sequence) {
  memory_.words[kStack + 16] = 0x1234;
  for (const auto& [offset, adjust] : {std::pair{0x06U, 1}, std::pair{0x09U, 0}}) {
    const auto move = out(offset);
    ASSERT_TRUE(move);
    auto expected = registers_at(kStart + 6);
    Native::general_register(expected, kSpilled) = 0x1234;
    Native::move_sp(expected, 136);
    EXPECT_EQ(move->registers, expected);
    EXPECT_EQ(move->correction.executions, adjust);
  }
}

TEST_F(ThreadMoves, undo_what_counts_a_transfer) {
  constexpr std::uint8_t kSecond = 1;
  copy_.undos[1] = {152, {{{kSpilled, 16}, {kSecond, 8}}}, -8};
  copy_.map[3].is_transferred = 1;
  memory_.words[kStack + 16] = 0x1234;
  memory_.words[kStack + 8] = 0x5678;
  EXPECT_FALSE(out(0x06));                  // the flags cannot be read
  constexpr std::uint64_t kFlags = 0x4101;  // as lahf and seto leave them: zero, carry, overflow
  memory_.words[kStack - 8] = kFlags;
  for (const auto& [offset, is_transferred] : {std::pair{0x06U, false}, std::pair{0x09U, true}}) {
    const auto move = out(offset);
    ASSERT_TRUE(move);
    auto expected = registers_at(kStart + 6);
    Native::general_register(expected, kSpilled) = 0x1234;
    Native::general_register(expected, kSecond) = 0x5678;
    Native::restore_flags(expected, kFlags);
    Native::move_sp(expected, 152);
    EXPECT_EQ(move->registers, expected);
    EXPECT_EQ(move->is_transferred, is_transferred);
    EXPECT_TRUE(move->is_in_table);
  }
}

TEST_F(ThreadMoves, are_none_where_the_spilled_register_cannot_be_read) { EXPECT_FALSE(out(0x06)); }

TEST_F(ThreadMoves, are_none_where_no_instruction_begins) {
  EXPECT_FALSE(out(0x01));
  EXPECT_FALSE(out(0x40));
  EXPECT_FALSE(in(0x01, true));
  EXPECT_FALSE(in(0x20, true));
}

TEST_F(ThreadMoves, into_the_copy_change_nothing_but_pc) {
  const auto move = in(0x03, false);
  ASSERT_TRUE(move);
  EXPECT_EQ(move->registers, registers_at(kCopy + 3));
  EXPECT_EQ(move->correction.counter, kCounter);
}

TEST_F(ThreadMoves, into_the_copy_count_each_execution_once) {
  EXPECT_EQ(in(0x00, false).value().correction.executions, 0);
  EXPECT_EQ(in(0x00, true).value().correction.executions, -1);
  EXPECT_EQ(in(0x06, false).value().correction.executions, 1);
  EXPECT_EQ(in(0x06, true).value().correction.executions, 0);
  EXPECT_EQ(in(0x10, true).value().correction.counter, kCounter + 8);
}

TEST_F(ThreadMoves, to_and_fro_leave_the_count) {
  for (const std::uint64_t offset : {0x00U, 0x03U, 0x06U, 0x10U}) {
    const bool is_leader = offset % 0x10 == 0;
    const auto inside = in(offset, !is_leader);
    ASSERT_TRUE(inside);
    const auto outside = move_to_original(copy_, inside->registers, memory_);
    ASSERT_TRUE(outside);
    EXPECT_EQ(outside->registers, registers_at(kStart + offset));
    EXPECT_EQ(inside->correction.executions + outside->correction.executions, 0);
  }
}

TEST_F(ThreadMoves, count_the_way_on_that_a_branch_has_taken) {
  const auto move = out(0x14);
  ASSERT_TRUE(move);
  EXPECT_EQ(Native::pc(move->registers), kStart + 0x10);
  EXPECT_EQ(move->correction.branch, kBranch);
  EXPECT_EQ(move->correction.executions, 0);
  EXPECT_EQ(out(0x20)->correction.branch, 0U);
}

TEST_F(ThreadMoves, tell_arrivals_that_are_not_the_copys_own) {
  // One that the copy counts, or has counted, and to which a way of the copy's own led.
  EXPECT_EQ(out(0x03)->correction.arrivals, 0);
  EXPECT_EQ(out(0x20)->correction.arrivals, -1);  // it is counted elsewhere
  EXPECT_EQ(in(0x03, false)->correction.arrivals, 1);
  EXPECT_EQ(in(0x03, false)->correction.departures, 0);
  EXPECT_EQ(in(0x06, true)->correction.arrivals, 0);
  EXPECT_EQ(in(0x06, true)->correction.departures, 1);
}

TEST_F(ThreadMoves, leave_blocks_unfinished) {
  EXPECT_FALSE(unfinished(copy_, kStart));
  EXPECT_FALSE(unfinished(copy_, kStart + 0x20));
  EXPECT_EQ(unfinished(copy_, kStart + 0x13).value().departures, -1);
  EXPECT_EQ(unfinished(copy_, kStart + 0x13).value().counter, kCounter + 8);
}

TEST_F(ThreadMoves, look_whether_a_store_has_counted) {
  copy_.undos[1] = {.counted_if_zero = kSpilled};
  for (const std::uint64_t status : {0U, 1U}) {
    auto registers = registers_at(kCopy + 6);  // in front of the count
    Native::general_register(registers, kSpilled) = status;
    const auto move = move_to_original(copy_, registers, memory_);
    ASSERT_TRUE(move);
    EXPECT_EQ(move->correction.executions, status == 0 ? 0 : 1);
    copy_.map[6].undo = 1;
    Native::set_pc(registers, kCopy + 0x14);  // of a branch
    EXPECT_EQ(move_to_original(copy_, registers, memory_)->correction.branch,
              status == 0 ? 0 : kBranch);
    EXPECT_EQ(move_to_original(copy_, registers, memory_)->correction.executions, 0);
  }
}

TEST_F(ThreadMoves, stand_in_front_of_the_count_behind_a_pad) {
  copy_.blocks[1].pad = 4;
  EXPECT_FALSE(unfinished(copy_, kStart + 0x14));
  EXPECT_FALSE(behind_pad(copy_, kStart + 0x10));
  EXPECT_FALSE(behind_pad(copy_, kStart + 0x18));
  const auto behind = behind_pad(copy_, kStart + 0x14);
  ASSERT_TRUE(behind);
  EXPECT_EQ(behind->executions, 1);
  EXPECT_EQ(behind->counter, kCounter + 8);
}

TEST_F(ThreadMoves, are_none_for_who_stays_in_the_original) {
  EXPECT_FALSE(stay_in_original(copy_, kStart, false));
  const auto uncounted = stay_in_original(copy_, kStart + 6, false);
  ASSERT_TRUE(uncounted);
  EXPECT_EQ(uncounted->executions, 1);
  EXPECT_EQ(uncounted->departures, 0);
  const auto counted = stay_in_original(copy_, kStart + 6, true);
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->executions, 0);
  EXPECT_EQ(counted->departures, 1);
}

/// The first block's instruction at 6 reads a table of the copy's own, whose entries lead to the
/// second block and out of the function.
class MovesWithTables : public ThreadMoves {
 protected:
  static constexpr std::uint8_t kIndex = 2;
  static constexpr Address kElsewhere{0x5000};
  static constexpr std::uint64_t kEntries = kCounter + 0x100;

  void SetUp() override {
    ThreadMoves::SetUp();
    copy_.tables = {{0, kIndex, kEntries,
                     std::make_shared<const std::vector<Address>>(
                         std::vector<Address>{kElsewhere, kStart + 0x10})}};
    copy_.map[4].is_in_entry = 1;  // at 0x0C
  }
  [[nodiscard]] std::optional<ThreadMove> out_with(std::uint64_t offset, std::uint8_t reg,
                                                   std::uint64_t value) {
    auto registers = registers_at(kCopy + offset);
    Native::general_register(registers, reg) = value;
    return move_to_original(copy_, registers, memory_);
  }
};

TEST_F(MovesWithTables, take_the_entrys_count_back) {
  EXPECT_EQ(out_with(0x0C, kIndex, 1)->correction.entry, kEntries + 8);
  EXPECT_EQ(out_with(0x0C, kIndex, 0)->correction.entry, kEntries);
  EXPECT_EQ(out_with(0x0C, kIndex, 2)->correction.entry, 0U) << "no entry of the table";
  EXPECT_EQ(out_with(0x03, kIndex, 1)->correction.entry, 0U) << "not counted yet";
}

TEST_F(MovesWithTables, give_the_original_entry_back) {
  copy_.undos.emplace_back().entry_in = kSpilled;
  copy_.map[4].undo = 2;
  const auto inside = out_with(0x0C, kSpilled, kCopy.value() + 0x20);
  ASSERT_TRUE(inside);
  Native::Registers registers = inside->registers;
  EXPECT_EQ(Native::general_register(registers, kSpilled), kStart.value() + 0x10);
  EXPECT_EQ(inside->correction.entry, kEntries + 8);
  const auto outside = out_with(0x0C, kSpilled, kElsewhere.value());
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->correction.entry, kEntries);
}

TEST_F(MovesWithTables, set_the_register_that_holds_where_control_goes) {
  copy_.undos.emplace_back().address_in = kSpilled;
  copy_.map[7].undo = 2;  // at 0x20, the second block
  auto move = out(0x20);
  ASSERT_TRUE(move);
  EXPECT_EQ(Native::general_register(move->registers, kSpilled), kStart.value() + 0x10);
}

}  // namespace
}  // namespace sp::supervisor
