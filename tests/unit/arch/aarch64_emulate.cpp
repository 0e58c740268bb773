#include <gtest/gtest.h>

#include "arch/aarch64/emulate.h"
#include "arch/aarch64/flags.h"
#include "bytes.h"
#include "pretended_memory.h"

namespace sp::arch::aarch64 {
namespace {

class AArch64Emulation : public testing::Test {
 protected:
  AArch64Emulation() {
    registers.pc = 0x401000;
    registers.sp = 0x7ff0;
    registers.pstate = 3U << 10U;  // as left by an indirect branch
    for (std::size_t number = 0; number < 31; ++number) {
      registers.x[number] = 0x1000 + number * 0x10;
    }
    memory.words = {{0x7fe0, 1}, {0x7fe8, 2}, {0x7ff0, 3}, {0x7ff8, 0xffffffff80000000}};
  }

  Emulated run(std::uint32_t word) { return emulate(registers, bytes_of_word(word), memory); }

  void expect_refused(std::uint32_t word, Emulated answer = Emulated::not_emulated) {
    const Registers before = registers;
    const auto words = memory.words;
    EXPECT_EQ(run(word), answer) << std::hex << word;
    EXPECT_EQ(registers, before) << std::hex << word;
    EXPECT_EQ(memory.words, words) << std::hex << word;
  }

  Registers registers;
  PretendedMemory memory;
};

TEST_F(AArch64Emulation, branches_directly) {
  ASSERT_EQ(run(0x14000004), Emulated::done);  // b .+16
  EXPECT_EQ(registers.pc, 0x401010U);
  ASSERT_EQ(run(0x97fffffc), Emulated::done);  // bl .-16
  EXPECT_EQ(registers.pc, 0x401000U);
  EXPECT_EQ(registers.x[30], 0x401014U);
}

TEST_F(AArch64Emulation, clears_the_branch_type_like_every_instruction) {
  ASSERT_EQ(run(0xd503201f), Emulated::done);  // nop
  EXPECT_EQ(registers.pstate, 0U);
  EXPECT_EQ(registers.pc, 0x401004U);
}

TEST_F(AArch64Emulation, branches_on_each_condition) {
  struct Case {
    std::uint32_t condition;
    std::uint64_t holds;
    std::uint64_t fails;
  };
  const Case cases[] = {
      {0, kZero, 0},                           // eq
      {1, 0, kZero},                           // ne
      {2, kCarry, 0},                          // hs
      {3, 0, kCarry},                          // lo
      {4, kNegative, 0},                       // mi
      {5, 0, kNegative},                       // pl
      {6, kOverflow, 0},                       // vs
      {7, 0, kOverflow},                       // vc
      {8, kCarry, kCarry | kZero},             // hi
      {9, 0, kCarry},                          // ls
      {10, kNegative | kOverflow, kNegative},  // ge
      {11, kOverflow, 0},                      // lt
      {12, kNegative | kOverflow, kZero},      // gt
      {13, kZero, kCarry},                     // le
  };
  for (const Case& one : cases) {
    for (const bool holds : {true, false}) {
      registers.pc = 0x401000;
      registers.pstate = holds ? one.holds : one.fails;
      ASSERT_EQ(run(0x54000040U | one.condition), Emulated::done);  // b.cond .+8
      EXPECT_EQ(registers.pc, holds ? 0x401008U : 0x401004U) << one.condition;
    }
  }
  ASSERT_EQ(run(0x5400004e), Emulated::done);  // b.al
  EXPECT_EQ(registers.pc, 0x40100cU);
}

TEST_F(AArch64Emulation, compares_with_zero_in_the_width_it_says) {
  registers.x[3] = 0x100000000;
  ASSERT_EQ(run(0x34000043), Emulated::done);  // cbz w3, .+8
  EXPECT_EQ(registers.pc, 0x401008U);
  ASSERT_EQ(run(0xb4000043), Emulated::done);  // cbz x3, .+8
  EXPECT_EQ(registers.pc, 0x40100cU);
  ASSERT_EQ(run(0xb5000043), Emulated::done);  // cbnz x3, .+8
  EXPECT_EQ(registers.pc, 0x401014U);
  ASSERT_EQ(run(0xb400005f), Emulated::done);  // cbz xzr, .+8
  EXPECT_EQ(registers.pc, 0x40101cU);
}

TEST_F(AArch64Emulation, tests_one_bit) {
  registers.x[3] = 1ULL << 33U;
  ASSERT_EQ(run(0xb7080043), Emulated::done);  // tbnz x3, #33, .+8
  EXPECT_EQ(registers.pc, 0x401008U);
  ASSERT_EQ(run(0x36000043), Emulated::done);  // tbz w3, #0, .+8
  EXPECT_EQ(registers.pc, 0x401010U);
  ASSERT_EQ(run(0x37000043), Emulated::done);  // tbnz w3, #0, .+8
  EXPECT_EQ(registers.pc, 0x401014U);
}

TEST_F(AArch64Emulation, branches_to_registers) {
  ASSERT_EQ(run(0xd61f0020), Emulated::done);  // br x1
  EXPECT_EQ(registers.pc, 0x1010U);
  ASSERT_EQ(run(0xd63f0040), Emulated::done);  // blr x2
  EXPECT_EQ(registers.pc, 0x1020U);
  EXPECT_EQ(registers.x[30], 0x1014U);
  ASSERT_EQ(run(0xd65f03c0), Emulated::done);  // ret
  EXPECT_EQ(registers.pc, 0x1014U);
  registers.x[30] = 0x2000;
  ASSERT_EQ(run(0xd63f03c0), Emulated::done);  // blr x30: looks before it links
  EXPECT_EQ(registers.pc, 0x2000U);
  EXPECT_EQ(registers.x[30], 0x1018U);
}

TEST_F(AArch64Emulation, takes_signed_targets_without_their_signature) {
  registers.x[1] = 0x2a5e000000001010;
  registers.x[30] = 0x2a5e000000002020;
  ASSERT_EQ(run(0xd71f0821), Emulated::done);  // braa x1, x1
  EXPECT_EQ(registers.pc, 0x1010U);
  ASSERT_EQ(run(0xd65f0bff), Emulated::done);  // retaa
  EXPECT_EQ(registers.pc, 0x2020U);
  ASSERT_EQ(run(0xd63f083f), Emulated::done);  // blraaz x1
  EXPECT_EQ(registers.pc, 0x1010U);
  EXPECT_EQ(registers.x[30], 0x2024U);
}

TEST_F(AArch64Emulation, enters_and_leaves_a_function) {
  ASSERT_EQ(run(0xd503245f), Emulated::done);  // bti c
  ASSERT_EQ(run(0xa9bf7bfd), Emulated::done);  // stp x29, x30, [sp, #-16]!
  EXPECT_EQ(registers.sp, 0x7fe0U);
  EXPECT_EQ(memory.words[0x7fe0], 0x11d0U);
  EXPECT_EQ(memory.words[0x7fe8], 0x11e0U);
  ASSERT_EQ(run(0x910003fd), Emulated::done);  // mov x29, sp
  EXPECT_EQ(registers.x[29], 0x7fe0U);
  ASSERT_EQ(run(0xd10083ff), Emulated::done);  // sub sp, sp, #32
  EXPECT_EQ(registers.sp, 0x7fc0U);
  ASSERT_EQ(run(0x910083ff), Emulated::done);  // add sp, sp, #32
  ASSERT_EQ(run(0xa8c17bfd), Emulated::done);  // ldp x29, x30, [sp], #16
  EXPECT_EQ(registers.sp, 0x7ff0U);
  EXPECT_EQ(registers.x[29], 0x11d0U);
  EXPECT_EQ(registers.pc, 0x401018U);
}

TEST_F(AArch64Emulation, pushes_and_pops_one_register) {
  ASSERT_EQ(run(0xf81f0ffe), Emulated::done);  // str x30, [sp, #-16]!
  EXPECT_EQ(memory.words[0x7fe0], 0x11e0U);
  ASSERT_EQ(run(0xf84107f3), Emulated::done);  // ldr x19, [sp], #16
  EXPECT_EQ(registers.x[19], 0x11e0U);
  EXPECT_EQ(registers.sp, 0x7ff0U);
}

TEST_F(AArch64Emulation, computes_addresses_from_pc) {
  registers.pc = 0x401234;
  ASSERT_EQ(run(0x10000080), Emulated::done);  // adr x0, .+16
  EXPECT_EQ(registers.x[0], 0x401244U);
  ASSERT_EQ(run(0xb0000020), Emulated::done);  // adrp x0, .+5 pages
  EXPECT_EQ(registers.x[0], 0x406000U);
  ASSERT_EQ(run(0xf0ffffe0), Emulated::done);  // adrp x0, .-1 page
  EXPECT_EQ(registers.x[0], 0x400000U);
}

TEST_F(AArch64Emulation, loads_constants_beside_the_code) {
  registers.pc = 0x7fe8;
  ASSERT_EQ(run(0x98000080), Emulated::done);  // ldrsw x0, .+16
  EXPECT_EQ(registers.x[0], 0xffffffff80000000U);
  registers.pc = 0x7fe8;
  ASSERT_EQ(run(0x18000080), Emulated::done);  // ldr w0, .+16
  EXPECT_EQ(registers.x[0], 0x80000000U);
  registers.pc = 0x7fe8;
  ASSERT_EQ(run(0x58000080), Emulated::done);  // ldr x0, .+16
  EXPECT_EQ(registers.x[0], 0xffffffff80000000U);
}

TEST_F(AArch64Emulation, moves_and_compares) {
  ASSERT_EQ(run(0xaa0103e0), Emulated::done);  // mov x0, x1
  EXPECT_EQ(registers.x[0], 0x1010U);
  ASSERT_EQ(run(0xd2a24680), Emulated::done);  // movz x0, #0x1234, lsl #16
  EXPECT_EQ(registers.x[0], 0x12340000U);
  ASSERT_EQ(run(0xf2800020), Emulated::done);  // movk x0, #1
  EXPECT_EQ(registers.x[0], 0x12340001U);
  ASSERT_EQ(run(0x12800000), Emulated::done);  // mov w0, #-1
  EXPECT_EQ(registers.x[0], 0xffffffffU);
  ASSERT_EQ(run(0x3100041f), Emulated::done);  // cmn w0, #1
  EXPECT_EQ(registers.pstate, kZero | kCarry);
  ASSERT_EQ(run(0xf1000c1f), Emulated::done);  // cmp x0, #3
  EXPECT_EQ(registers.pstate, kCarry);
  registers.x[0] = 2;
  ASSERT_EQ(run(0xf1000c1f), Emulated::done);
  EXPECT_EQ(registers.pstate, kNegative);
  registers.x[0] = 0x8000000000000000;
  ASSERT_EQ(run(0xf1000c1f), Emulated::done);
  EXPECT_EQ(registers.pstate, kCarry | kOverflow);
}

TEST_F(AArch64Emulation, refuses_memory_that_cannot_be_accessed) {
  registers.sp = 0x9000;
  for (const std::uint32_t word :
       {0xa9bf7bfdU, 0xa8c17bfdU, 0xa9417bfdU, 0xf81f0ffeU, 0xf84107f3U, 0x58000080U}) {
    expect_refused(word, Emulated::memory_refused);
  }
}

TEST_F(AArch64Emulation, refuses_what_it_must_leave_to_the_cpu) {
  for (const std::uint32_t word : {
           0xd503233fU,  // paciasp
           0xd50323bfU,  // autiasp
           0xd503207fU,  // wfi
           0xd4000001U,  // svc #0
           0xd4200000U,  // brk #0
           0xd69f03e0U,  // eret
           0xa9007bfdU,  // stp x29, x30, [sp]: not below sp
           0xa98103e0U,  // stp x0, x0, [sp, #16]!
           0xa9bf7c1dU,  // stp x29, x31, [x0, #-16]!
           0xa8c10000U,  // ldp x0, x0, [x0], #16
           0xa8c103e0U,  // ldp x0, x0, [sp], #16
           0x885ffc01U,  // ldaxr w1, [x0]
           0x00000000U,  // udf
       }) {
    expect_refused(word);
  }
  EXPECT_EQ(emulate(registers, bytes_of("1f 20 03"), memory), Emulated::not_emulated);
}

TEST_F(AArch64Emulation, refuses_to_fault) {
  registers.x[1] = 0x1002;
  expect_refused(0xd61f0020);  // br x1
  registers.x[1] = 0x1000000000000;
  expect_refused(0xd63f0020);  // blr x1
  registers.sp = 0x7fe8;
  expect_refused(0xa9bf7bfd);  // stp with an sp that is no multiple of 16
}

}  // namespace
}  // namespace sp::arch::aarch64
