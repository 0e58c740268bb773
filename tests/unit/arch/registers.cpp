#include "arch/x86_64/registers.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstddef>

#include "arch/aarch64/isa.h"
#include "arch/native.h"
#include "arch/x86_64/isa.h"

namespace sp::arch {
namespace {

TEST(X86Registers, lie_where_the_kernel_puts_them) {
  // Offsets in user_regs_struct, from the word numbers of <sys/reg.h>.
  EXPECT_EQ(offsetof(x86_64::Registers, rax), 10U * 8U);
  EXPECT_EQ(offsetof(x86_64::Registers, orig_rax), 15U * 8U);
  EXPECT_EQ(offsetof(x86_64::Registers, rip), 16U * 8U);
  EXPECT_EQ(offsetof(x86_64::Registers, eflags), 18U * 8U);
  EXPECT_EQ(offsetof(x86_64::Registers, rsp), 19U * 8U);
  EXPECT_EQ(offsetof(x86_64::Registers, gs), 26U * 8U);
}

TEST(X86Registers, get_flags_back_as_lahf_and_seto_save_them) {
  x86_64::Registers registers;
  registers.eflags = 0x247;                  // carry, parity, zero, interrupts
  x86_64::restore_flags(registers, 0x9101);  // sign, adjust, carry; overflow
  EXPECT_EQ(registers.eflags, 0xA93U);
  x86_64::restore_flags(registers, 0x4600);  // zero, parity
  EXPECT_EQ(registers.eflags, 0x246U);
}

TEST(X86Registers, go_to_dwarf_in_the_order_of_the_psabi) {
  x86_64::Registers registers;
  registers.rax = 100;
  registers.rdx = 101;
  registers.rcx = 102;
  registers.rbx = 103;
  registers.rsi = 104;
  registers.rdi = 105;
  registers.rbp = 106;
  registers.rsp = 107;
  registers.r8 = 108;
  registers.r15 = 115;
  registers.rip = 7;
  const core::DwarfRegisters dwarf = x86_64::to_dwarf(registers);
  for (std::size_t number = 0; number < 9; ++number) {
    EXPECT_EQ(dwarf.values[number], 100 + number);
  }
  EXPECT_EQ(dwarf.values[15], 115U);
  EXPECT_EQ(dwarf.pc, core::Address{7});
  EXPECT_EQ(dwarf.sp, core::Address{107});
}

TEST(AArch64Registers, go_to_dwarf_with_sp_as_31) {
  aarch64::Registers registers;
  for (std::size_t number = 0; number < 31; ++number) {
    registers.x[number] = 100 + number;
  }
  registers.sp = 131;
  registers.pc = 7;
  const core::DwarfRegisters dwarf = aarch64::to_dwarf(registers);
  for (std::size_t number = 0; number < 32; ++number) {
    EXPECT_EQ(dwarf.values[number], 100 + number);
  }
  EXPECT_EQ(dwarf.pc, core::Address{7});
  EXPECT_EQ(dwarf.sp, core::Address{131});
}

template <typename T>
class EachCpu : public testing::Test {};
using Cpus = testing::Types<x86_64::X86_64, aarch64::AArch64>;
TYPED_TEST_SUITE(EachCpu, Cpus);

TYPED_TEST(EachCpu, set_pc_is_read_back) {
  typename TypeParam::Registers registers;
  TypeParam::set_pc(registers, core::Address{0x1234});
  EXPECT_EQ(TypeParam::pc(registers), core::Address{0x1234});
}

TYPED_TEST(EachCpu, has_a_counter_segment_that_is_free_until_it_is_set) {
  typename TypeParam::Registers registers;
  EXPECT_EQ(TypeParam::counter_base(registers), 0U);
  EXPECT_FALSE(TypeParam::uses_counter_segment(registers));
  TypeParam::set_counter_base(registers, 0x1234);
  EXPECT_EQ(TypeParam::counter_base(registers), TypeParam::kHasCounterSegment ? 0x1234U : 0U);
  EXPECT_EQ(TypeParam::uses_counter_segment(registers), TypeParam::kHasCounterSegment);
}

TYPED_TEST(EachCpu, decodes_its_own_breakpoint_as_a_stop) {
  const auto decoded = TypeParam::decode(TypeParam::kBreakpoint, core::Address{0x1000});
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->flow, core::Flow::stop);
  EXPECT_EQ(decoded->length, TypeParam::kBreakpoint.size());
}

TEST(Breakpoint, is_found_from_its_trap) {
  EXPECT_EQ(x86_64::breakpoint_of_trap(core::Address{0x1001}), core::Address{0x1000});
  EXPECT_EQ(aarch64::breakpoint_of_trap(core::Address{0x1000}), core::Address{0x1000});
}

TEST(Breakpoint, is_told_from_the_end_of_a_step_by_what_the_kernel_says) {
  EXPECT_TRUE(x86_64::is_breakpoint_code(SI_KERNEL));
  EXPECT_FALSE(x86_64::is_breakpoint_code(TRAP_BRKPT));
  EXPECT_TRUE(x86_64::is_step_code(TRAP_TRACE));
  EXPECT_TRUE(x86_64::is_step_code(TRAP_BRKPT));  // a step through a call, or DR6.BS was lost
  EXPECT_FALSE(x86_64::is_step_code(SI_USER));
  EXPECT_TRUE(aarch64::is_breakpoint_code(TRAP_BRKPT));
  EXPECT_TRUE(aarch64::is_step_code(TRAP_TRACE));
  EXPECT_FALSE(aarch64::is_step_code(TRAP_BRKPT));
}

}  // namespace
}  // namespace sp::arch
