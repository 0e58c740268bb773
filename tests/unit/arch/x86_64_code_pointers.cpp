#include <gtest/gtest.h>

#include <vector>

#include "arch/x86_64/code_pointers.h"
#include "bytes.h"

namespace sp::arch::x86_64 {
namespace {

using Values = std::vector<std::uint64_t>;

constexpr core::Address kAt{0x401000};

Values pointers(const char* hex) { return code_pointers(bytes_of(hex), kAt); }

TEST(X86CodePointers, are_what_lea_makes_of_rip) {
  EXPECT_EQ(pointers("48 8d 05 10 00 00 00"), Values{0x401017});  // lea 0x10(%rip),%rax
  EXPECT_EQ(pointers("4c 8d 3d f0 ff ff ff"), Values{0x400FF7});  // lea -0x10(%rip),%r15
}

TEST(X86CodePointers, are_immediates_of_32_bits_with_and_without_sign) {
  EXPECT_EQ(pointers("bf 34 12 40 00"), (Values{0x401234, 0x401234}));        // mov $,%edi
  EXPECT_EQ(pointers("48 c7 c0 34 12 40 00"), (Values{0x401234, 0x401234}));  // mov $,%rax
  EXPECT_EQ(pointers("c7 04 24 00 10 00 80"),                                 // movl $,(%rsp)
            (Values{0xFFFFFFFF80001000, 0x80001000}));
  EXPECT_EQ(pointers("68 34 12 40 00"), (Values{0x401234, 0x401234}));        // push $
  EXPECT_EQ(pointers("48 3d 34 12 40 00"), (Values{0x401234, 0x401234}));     // cmp $,%rax
  EXPECT_EQ(pointers("48 81 c2 34 12 40 00"), (Values{0x401234, 0x401234}));  // add $,%rdx
}

TEST(X86CodePointers, are_immediates_of_64_bits) {
  const Values found = pointers("49 bb 34 12 40 00 55 55 00 00");  // movabs $,%r11
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front(), 0x555500401234U);
}

TEST(X86CodePointers, are_absolute_displacements_of_lea) {
  EXPECT_EQ(pointers("48 8d 04 c5 34 12 40 00"), Values{0x401234});  // lea 0x401234(,%rax,8),%rax
  EXPECT_EQ(pointers("48 8d 80 34 12 40 00"), Values{0x401234});     // lea 0x401234(%rax),%rax
  EXPECT_EQ(pointers("48 8d 40 10"), Values{});                      // lea 0x10(%rax),%rax
}

TEST(X86CodePointers, are_not_destinations_of_branches_and_calls) {
  EXPECT_EQ(pointers("e8 00 01 00 00"), Values{});
  EXPECT_EQ(pointers("e9 00 01 00 00"), Values{});
  EXPECT_EQ(pointers("0f 85 00 01 00 00"), Values{});
  EXPECT_EQ(pointers("eb 10"), Values{});
}

TEST(X86CodePointers, are_not_what_an_instruction_reads_from_memory) {
  EXPECT_EQ(pointers("48 8b 05 10 00 00 00"), Values{});  // mov 0x10(%rip),%rax
  EXPECT_EQ(pointers("ff 15 10 00 00 00"), Values{});     // call *0x10(%rip)
}

TEST(X86CodePointers, are_not_the_memory_that_is_named_for_itself) {
  const auto named = [](const char* hex) { return named_memory(bytes_of(hex), kAt); };
  EXPECT_EQ(named("48 8d 05 10 00 00 00"), 0x401017U);     // lea 0x10(%rip),%rax
  EXPECT_EQ(named("f2 0f 10 05 f0 ff ff ff"), 0x400FF8U);  // movsd -0x10(%rip),%xmm0
  EXPECT_EQ(named("48 8b 47 10"), std::nullopt);           // mov 0x10(%rdi),%rax
}

TEST(X86CodePointers, are_not_small_immediates) {
  EXPECT_EQ(pointers("48 83 c0 10"), Values{});     // add $0x10,%rax
  EXPECT_EQ(pointers("66 b8 34 12"), Values{});     // mov $0x1234,%ax
  EXPECT_EQ(pointers("c2 10 00"), Values{});        // ret $0x10
  EXPECT_EQ(pointers("48 c1 e0 03"), Values{});     // shl $3,%rax
  EXPECT_EQ(pointers("06"), Values{});              // no instruction
  EXPECT_EQ(pointers("48 8d 05 10 00"), Values{});  // half of one
}

}  // namespace
}  // namespace sp::arch::x86_64
