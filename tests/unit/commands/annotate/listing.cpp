#include "commands/annotate/listing.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "commands/annotate/disassembler.h"

namespace sp::annotate {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const int value : values) {
    out.push_back(static_cast<std::byte>(value));
  }
  return out;
}

std::vector<ListedInstruction> listed(const std::vector<std::byte>& code,
                                      const std::vector<Block>& blocks) {
  static const Disassembler kX86(EM_X86_64);
  return list_instructions(code, 0x10, blocks, kX86.decode(), kX86.unit());
}

TEST(AnnotateListing, puts_hits_at_the_beginning_of_each_block) {
  // 0x10 push rbp; 0x11 mov rbp, rsp; 0x14 jne 0x10; 0x16 ret; 0x17 nop
  const auto rows =
      listed(bytes({0x55, 0x48, 0x89, 0xe5, 0x75, 0xfa, 0xc3, 0x90}), {{0x10, 6, 5}, {0x16, 1, 2}});
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].hits, 5U);
  EXPECT_FALSE(rows[1].hits.has_value());
  EXPECT_TRUE(rows[1].executed);
  EXPECT_EQ(rows[2].goes_to, 0x10U);
  EXPECT_EQ(rows[3].hits, 2U);
  EXPECT_FALSE(rows[4].executed);
  EXPECT_TRUE(rows[4].is_code);
}

TEST(AnnotateListing, bytes_that_are_no_instruction_stand_alone) {
  // 06 is not an instruction in 64-bit mode.
  const auto rows = listed(bytes({0xc3, 0x06, 0x06, 0x55}), {{0x10, 1, 1}});
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_FALSE(rows[1].is_code);
  EXPECT_FALSE(rows[2].is_code);
  EXPECT_TRUE(rows[3].is_code);
}

TEST(AnnotateListing, data_before_a_block_does_not_swallow_its_beginning) {
  // 0x10 ret; 0x11 48 b8 would begin a 10-byte mov; 0x13 push rbp was executed.
  const auto rows =
      listed(bytes({0xc3, 0x48, 0xb8, 0x55, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}),
             {{0x10, 1, 1}, {0x13, 2, 9}});
  ASSERT_GE(rows.size(), 5U);
  EXPECT_FALSE(rows[1].is_code);
  EXPECT_EQ(rows[1].length, 1U);
  EXPECT_EQ(rows[3].address, 0x13U);
  EXPECT_EQ(rows[3].hits, 9U);
}

TEST(AnnotateListing, a_block_that_begins_within_an_executed_instruction_is_shown_under_it) {
  // 0x10 lock cmpxchg [rdx], rcx, entered at 0x11 too; 0x15 ret
  const auto rows =
      listed(bytes({0xf0, 0x48, 0x0f, 0xb1, 0x0a, 0xc3}), {{0x10, 6, 3}, {0x11, 5, 4}});
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_EQ(rows[0].entered_inside.size(), 1U);
  EXPECT_EQ(rows[0].entered_inside[0].hits, 4U);
  EXPECT_EQ(rows[1].address, 0x15U);
  EXPECT_TRUE(rows[1].executed);
}

TEST(AnnotateListing, ends_with_the_code_in_the_middle_of_an_instruction) {
  const auto rows = listed(bytes({0x48, 0x89}), {{0x10, 3, 1}});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_FALSE(rows[0].is_code);
  EXPECT_FALSE(rows[1].is_code);
}

TEST(Disassembler, writes_what_objdump_would_in_intel_syntax) {
  const Disassembler x86(EM_X86_64);
  EXPECT_EQ(x86.text(bytes({0x48, 0x89, 0xe5}), 0x10), "mov rbp, rsp");
  EXPECT_EQ(x86.text(bytes({0xc3}), 0x10), "ret");
  EXPECT_EQ(x86.text(bytes({0x75, 0xfa}), 0x14), "jne 0x10");
}

TEST(Disassembler, writes_bytes_where_capstone_does_not_know_the_instruction) {
  const Disassembler x86(EM_X86_64);
  EXPECT_EQ(x86.text(bytes({0x06}), 0), ".byte 0x06");
  EXPECT_EQ(x86.text(bytes({0x90, 0x90}), 0), ".byte 0x90, 0x90") << "another length";
  const Disassembler unknown(EM_RISCV);
  EXPECT_EQ(unknown.text(bytes({0x13, 0}), 0), ".byte 0x13, 0x00");
  EXPECT_FALSE(unknown.decode()(bytes({0x13, 0}), core::Address{0}).has_value());
}

TEST(Disassembler, reads_aarch64_too) {
  const Disassembler arm(EM_AARCH64);
  EXPECT_EQ(arm.text(bytes({0xc0, 0x03, 0x5f, 0xd6}), 0), "ret");
  EXPECT_EQ(arm.unit(), 4U);
}

}  // namespace
}  // namespace sp::annotate
