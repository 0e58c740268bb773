#include <gtest/gtest.h>

#include <initializer_list>

#include "arch/aarch64/relocate.h"
#include "bytes.h"

namespace sp::arch::aarch64 {
namespace {

using core::Address;

constexpr Address kFrom{0x401000};
constexpr Address kTo{0x501000};

void expect_copy(std::uint32_t word, std::initializer_list<std::uint32_t> copy) {
  const auto relocated = relocate(bytes_of_word(word), kFrom, kTo);
  ASSERT_TRUE(relocated) << std::hex << word;
  std::vector<std::byte> expected;
  for (const std::uint32_t one : copy) {
    const auto bytes = bytes_of_word(one);
    expected.insert(expected.end(), bytes.begin(), bytes.end());
  }
  EXPECT_EQ(*relocated, expected) << std::hex << word;
  EXPECT_LE(relocated->size(), kLongestRelocation);
}

TEST(AArch64Relocation, copies_a_plain_instruction_and_jumps_back) {
  expect_copy(0xa9bf7bfd, {0xa9bf7bfd, 0x17fc0000});  // stp; b 0x401004
  expect_copy(0xd503233f, {0xd503233f, 0x17fc0000});  // paciasp
}

TEST(AArch64Relocation, branches_go_where_they_went) {
  expect_copy(0x14000040, {0x17fc0040});  // b 0x401100
  expect_copy(0x54000801,                 // b.ne 0x401100
              {0x54000041, 0x17fc0000, 0x17fc003e});
  expect_copy(0xb4000803,  // cbz x3, 0x401100
              {0xb4000043, 0x17fc0000, 0x17fc003e});
  expect_copy(0xb7080803,  // tbnz x3, #33, 0x401100
              {0xb7080043, 0x17fc0000, 0x17fc003e});
}

TEST(AArch64Relocation, calls_leave_the_return_address_of_the_original) {
  expect_copy(0x94000040,                             // bl 0x401100
              {0xd282009e, 0xf2a0081e, 0x17fc003e});  // mov x30, #0x1004; movk x30, #0x40, lsl #16
  expect_copy(0xd63f0040, {0xd282009e, 0xf2a0081e, 0xd61f0040});  // blr x2: br x2
  expect_copy(0xd73f0822, {0xd282009e, 0xf2a0081e, 0xd71f0822});  // blraa x1, x2: braa
}

TEST(AArch64Relocation, addresses_from_pc_become_constants) {
  expect_copy(0x10000800, {0xd2822000, 0xf2a00800, 0x17fbffff});              // adr x0, 0x401100
  expect_copy(0xb0000020, {0xd28c0000, 0xf2a00800, 0x17fbffff});              // adrp x0, 0x406000
  expect_copy(0x58000800, {0xd2822000, 0xf2a00800, 0xf9400000, 0x17fbfffe});  // ldr x0
  expect_copy(0x98000800, {0xd2822000, 0xf2a00800, 0xb9800000, 0x17fbfffe});  // ldrsw x0
}

TEST(AArch64Relocation, leaves_returns_and_indirect_jumps_without_a_way_back) {
  expect_copy(0xd65f03c0, {0xd65f03c0});  // ret
  expect_copy(0xd65f0bff, {0xd65f0bff});  // retaa
  expect_copy(0xd61f0020, {0xd61f0020});  // br x1
}

TEST(AArch64Relocation, refuses_what_cannot_run_elsewhere) {
  for (const std::uint32_t word : {
           0xd4000001U,  // svc
           0xd4200000U,  // brk
           0xd63f03c0U,  // blr x30
           0xd73f083eU,  // blraa x1, x30
           0x1c000800U,  // ldr s0, from beside the code
           0x885ffc01U,  // ldaxr
           0x8802fc01U,  // stlxr
           0x02000000U,  // no instruction
       }) {
    EXPECT_FALSE(relocate(bytes_of_word(word), kFrom, kTo)) << std::hex << word;
  }
  EXPECT_TRUE(relocate(bytes_of_word(0x08dffc20), kFrom, kTo));  // ldarb stands alone
  EXPECT_TRUE(relocate(bytes_of_word(0xc8e07c41), kFrom, kTo));  // casa too
}

TEST(AArch64Relocation, refuses_what_is_out_of_reach) {
  EXPECT_TRUE(relocate(bytes_of_word(0xd503201f), kFrom, Address{0x8401000}));
  EXPECT_FALSE(relocate(bytes_of_word(0xd503201f), kFrom, Address{0x8401004}));
  EXPECT_TRUE(relocate(bytes_of_word(0xd65f03c0), kFrom, Address{0x7f0000000000}));
}

}  // namespace
}  // namespace sp::arch::aarch64
