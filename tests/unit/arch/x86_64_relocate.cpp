#include <gtest/gtest.h>

#include "arch/x86_64/relocate.h"
#include "bytes.h"

namespace sp::arch::x86_64 {
namespace {

using core::Address;

constexpr Address kFrom{0x401000};
constexpr Address kNear{0x501000};
constexpr Address kFar{0x7f0000000000};

void expect_copy(const char* hex, Address to, const char* copy) {
  const auto relocated = relocate(bytes_of(hex), kFrom, to);
  ASSERT_TRUE(relocated) << hex;
  EXPECT_EQ(*relocated, bytes_of(copy)) << hex;
}

// tests/live runs copies of every form; these tests show what they look like.

TEST(X86Relocation, copies_a_plain_instruction_and_jumps_back) {
  expect_copy("48 89 e5", kNear,
              "48 89 e5"          // mov %rsp,%rbp
              "e9 fb ff ef ff");  // jmp 0x401003
  expect_copy("48 89 e5", kFar,
              "48 89 e5"
              "ff 25 00 00 00 00"          // jmp *0(%rip)
              "03 10 40 00 00 00 00 00");  // 0x401003
}

TEST(X86Relocation, keeps_the_place_that_rip_relative_operands_mean) {
  expect_copy("48 8d 05 00 10 00 00", kNear,  // lea 0x402007(%rip = 0x401007)
              "48 8d 05 00 10 f0 ff"
              "e9 fb ff ef ff");
  expect_copy("80 3d 00 10 00 00 01", kNear,  // cmpb $1: the displacement is not at the end
              "80 3d 00 10 f0 ff 01"
              "e9 fb ff ef ff");
  EXPECT_FALSE(relocate(bytes_of("48 8d 05 00 10 00 00"), kFrom, kFar));
}

TEST(X86Relocation, turns_a_conditional_jump_into_two_jumps) {
  expect_copy("0f 85 00 01 00 00", kNear,  // jne 0x401106
              "75 05"
              "e9 ff ff ef ff"    // jmp 0x401006
              "e9 fa 00 f0 ff");  // jmp 0x401106
  expect_copy("67 e3 10", kNear,  // jecxz 0x401013
              "67 e3 05"
              "e9 fb ff ef ff"    // jmp 0x401003
              "e9 06 00 f0 ff");  // jmp 0x401013
}

TEST(X86Relocation, keeps_prefixes) {
  expect_copy("f2 e1 10", kNear,  // repne loope 0x401013, which AMD's CPUs take for loopne
              "f2 e1 05"
              "e9 fb ff ef ff"                // jmp 0x401003
              "e9 06 00 f0 ff");              // jmp 0x401013
  expect_copy("3e 0f 85 00 01 00 00", kNear,  // jne,pt 0x401107
              "3e 75 05"
              "e9 ff ff ef ff"    // jmp 0x401007
              "e9 fa 00 f0 ff");  // jmp 0x401107
  expect_copy("f2 eb 10", kNear, "f2 e9 0d 00 f0 ff");
  expect_copy("f2 e8 00 01 00 00", kNear,
              "68 06 10 40 00"
              "f2 e9 fb 00 f0 ff");
  expect_copy("66 66 48 e8 00 01 00 00", kNear,
              "68 08 10 40 00"
              "66 66 48 e9 fb 00 f0 ff");
  expect_copy("3e ff d0", kNear,  // notrack call *%rax
              "68 03 10 40 00"
              "3e ff e0");
}

TEST(X86Relocation, keeps_of_a_far_jumps_prefixes_what_does_not_change_its_operand) {
  expect_copy("f2 64 67 eb 10", kFar,
              "f2 ff 25 00 00 00 00"
              "15 10 40 00 00 00 00 00");
}

TEST(X86Relocation, refuses_a_short_jump_with_more_prefixes_than_a_near_one_can_have) {
  expect_copy("2e 2e 2e 2e 2e 2e 2e 2e 2e 2e eb 10", kNear,
              "2e 2e 2e 2e 2e 2e 2e 2e 2e 2e e9 0d 00 f0 ff");
  EXPECT_FALSE(relocate(bytes_of("2e 2e 2e 2e 2e 2e 2e 2e 2e 2e 2e eb 10"), kFrom, kNear));
}

TEST(X86Relocation, calls_leave_the_return_address_of_the_original) {
  expect_copy("e8 00 01 00 00", kNear,
              "68 05 10 40 00"    // push $0x401005
              "e9 fb 00 f0 ff");  // jmp 0x401105
  expect_copy("ff d0", kNear,
              "68 02 10 40 00"
              "ff e0");              // jmp *%rax
  expect_copy("ff 54 24 10", kNear,  // call *0x10(%rsp)
              "68 04 10 40 00"
              "ff a4 24 18 00 00 00");  // jmp *0x18(%rsp)
  expect_copy("41 ff 54 24 10", kNear,  // call *0x10(%r12): no stack
              "68 05 10 40 00"
              "41 ff 64 24 10");
  expect_copy("ff 15 00 10 00 00", kNear,  // call *0x402006
              "68 06 10 40 00"
              "ff 25 fb 0f f0 ff");
}

TEST(X86Relocation, pushes_return_addresses_of_more_than_32_bits) {
  const auto relocated =
      relocate(bytes_of("e8 00 01 00 00"), Address{0x7f0000401000}, Address{0x7f0000501000});
  ASSERT_TRUE(relocated);
  EXPECT_EQ(*relocated, bytes_of("68 05 10 40 00"
                                 "c7 44 24 04 00 7f 00 00"  // movl $0x7f00,4(%rsp)
                                 "e9 f3 00 f0 ff"));
}

TEST(X86Relocation, leaves_returns_and_indirect_jumps_without_a_way_back) {
  expect_copy("f3 c3", kFar, "f3 c3");
  expect_copy("c2 08 00", kFar, "c2 08 00");
  expect_copy("3e ff e0", kFar, "3e ff e0");
  expect_copy("ff 25 00 10 00 00", kNear, "ff 25 00 10 f0 ff");
}

TEST(X86Relocation, refuses_what_cannot_run_elsewhere) {
  for (const char* hex :
       {"0f 05", "cd 80", "cc", "0f 0b", "f4", "ff 18", "c7 f8 00 00 00 00", "67 8d 05 00 00 00 00",
        "ff d4", "ff 54 24 f8", "ff 14 04", "66 ff d0", "66 75 00", "06", "0f", ""}) {
    EXPECT_FALSE(relocate(bytes_of(hex), kFrom, kNear)) << hex;
  }
}

}  // namespace
}  // namespace sp::arch::x86_64
