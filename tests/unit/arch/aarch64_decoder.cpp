#include <gtest/gtest.h>

#include <optional>

#include "arch/aarch64/decoder.h"
#include "bytes.h"

namespace sp::arch::aarch64 {
namespace {

using core::Address;
using core::Flow;

constexpr Address kHere{0x401000};

struct Golden {
  std::uint32_t word;
  const char* text;
  Flow flow;
  std::optional<std::uint64_t> target = std::nullopt;
};

TEST(AArch64Decoder, knows_every_transfer) {
  const Golden goldens[] = {
      {0x14000001, "b .+4", Flow::jump, 0x401004},
      {0x17ffffff, "b .-4", Flow::jump, 0x400ffc},
      {0x94000400, "bl .+0x1000", Flow::call, 0x402000},
      {0x96000000, "bl .-128M", Flow::call, 0xfffffffff8401000},
      {0x54000040, "b.eq .+8", Flow::branch, 0x401008},
      {0x54ffffe1, "b.ne .-4", Flow::branch, 0x400ffc},
      {0x5400004e, "b.al .+8", Flow::jump, 0x401008},
      {0x54000051, "bc.ne .+8", Flow::branch, 0x401008},
      {0x34000040, "cbz w0, .+8", Flow::branch, 0x401008},
      {0xb5ffffe3, "cbnz x3, .-4", Flow::branch, 0x400ffc},
      {0x36000040, "tbz w0, #0, .+8", Flow::branch, 0x401008},
      {0xb7ffffe3, "tbnz x3, #63, .-4", Flow::branch, 0x400ffc},
      {0xd61f0000, "br x0", Flow::indirect_jump},
      {0xd71f0821, "braa x1, x1", Flow::indirect_jump},
      {0xd61f0c3f, "brabz x1", Flow::indirect_jump},
      {0xd63f0020, "blr x1", Flow::indirect_call},
      {0xd63f083f, "blraaz x1", Flow::indirect_call},
      {0xd73f0822, "blraa x1, x2", Flow::indirect_call},
      {0xd65f03c0, "ret", Flow::ret},
      {0xd65f0020, "ret x1", Flow::ret},
      {0xd65f0bff, "retaa", Flow::ret},
      {0xd65f0fff, "retab", Flow::ret},
      {0xd69f03e0, "eret", Flow::ret},
      {0xd4000001, "svc #0", Flow::syscall},
      {0xd4000002, "hvc #0", Flow::stop},
      {0xd4200000, "brk #0", Flow::stop},
      {0xd4207d00, "brk #1000", Flow::stop},
      {0xd4400000, "hlt #0", Flow::stop},
      {0x00000000, "udf #0", Flow::stop},
      {0x0000ffff, "udf #65535", Flow::stop},
  };
  for (const Golden& golden : goldens) {
    const auto decoded = decode(bytes_of_word(golden.word), kHere);
    ASSERT_TRUE(decoded) << golden.text;
    EXPECT_EQ(decoded->length, 4) << golden.text;
    EXPECT_EQ(decoded->flow, golden.flow) << golden.text;
    ASSERT_EQ(decoded->target.has_value(), golden.target.has_value()) << golden.text;
    if (golden.target) {
      EXPECT_EQ(decoded->target->value(), *golden.target) << golden.text;
    }
  }
}

TEST(AArch64Decoder, passes_what_does_not_branch) {
  for (const std::uint32_t word : {
           0xd503201fU,  // nop
           0xd503233fU,  // paciasp
           0xd503245fU,  // bti c
           0xa9bf7bfdU,  // stp x29, x30, [sp, #-16]!
           0xd10083ffU,  // sub sp, sp, #32
           0x90000000U,  // adrp x0, .
           0x885ffc01U,  // ldaxr w1, [x0]
           0xb8e10000U,  // ldaddal w1, w0, [x0]
           0x4e20d420U,  // fadd v0.4s, v1.4s, v0.4s
           0x04603be0U,  // an SVE one
           0xd53bd040U,  // mrs x0, tpidr_el0
       }) {
    const auto decoded = decode(bytes_of_word(word), kHere);
    ASSERT_TRUE(decoded) << std::hex << word;
    EXPECT_EQ(decoded->flow, Flow::next) << std::hex << word;
    EXPECT_FALSE(decoded->target);
  }
}

TEST(AArch64Decoder, refuses_what_is_no_instruction) {
  EXPECT_FALSE(decode(bytes_of_word(0x02000000), kHere));  // op0 0001: unallocated
  EXPECT_FALSE(decode(bytes_of_word(0x06000000), kHere));  // op0 0011: unallocated
  EXPECT_FALSE(decode(bytes_of_word(0x00010000), kHere));  // op0 0000, neither udf nor SME
  EXPECT_FALSE(decode(bytes_of("00 00 00"), kHere));
}

}  // namespace
}  // namespace sp::arch::aarch64
