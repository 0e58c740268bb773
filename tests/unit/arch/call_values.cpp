#include "arch/aarch64/call_values.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "arch/x86_64/call_values.h"
#include "pretended_memory.h"

namespace sp::arch {
namespace {

TEST(CallValues, of_x86_64_are_in_six_registers_and_above_the_return_address) {
  x86_64::Registers registers;
  registers.rdi = 1;
  registers.rsi = 2;
  registers.r9 = 6;
  registers.rax = 99;
  registers.rsp = 0x7000;
  PretendedMemory memory;
  EXPECT_EQ(x86_64::argument(registers, 0, memory), 1U);
  EXPECT_EQ(x86_64::argument(registers, 1, memory), 2U);
  EXPECT_EQ(x86_64::argument(registers, 5, memory), 6U);
  EXPECT_EQ(x86_64::argument(registers, 6, memory), std::nullopt);
  memory.words[0x7008] = 42;
  EXPECT_EQ(x86_64::argument(registers, 6, memory), 42U);
  EXPECT_EQ(x86_64::result(registers), 99U);
}

TEST(CallValues, of_aarch64_are_in_eight_registers_and_on_the_stack) {
  aarch64::Registers registers;
  registers.x[0] = 10;
  registers.x[7] = 17;
  PretendedMemory memory;
  EXPECT_EQ(aarch64::argument(registers, 0, memory), 10U);
  EXPECT_EQ(aarch64::argument(registers, 7, memory), 17U);
  EXPECT_EQ(aarch64::argument(registers, 8, memory), std::nullopt);
  registers.sp = 0x7000;
  memory.words[0x7008] = 42;
  EXPECT_EQ(aarch64::argument(registers, 9, memory), 42U);
  EXPECT_EQ(aarch64::result(registers), 10U);
}

TEST(CallValues, doubles_are_in_vector_registers) {
  const double value = 2.5;
  std::vector<std::byte> fxsave(512);
  std::memcpy(fxsave.data() + 160 + 16, &value, sizeof(value));
  EXPECT_EQ(x86_64::floating_value(fxsave, 1), 2.5);
  EXPECT_EQ(x86_64::floating_value(std::span(fxsave).first(100), 1), std::nullopt);
  std::vector<std::byte> fpsimd(528);
  std::memcpy(fpsimd.data() + 16, &value, sizeof(value));
  EXPECT_EQ(aarch64::floating_value(fpsimd, 1), 2.5);
}

}  // namespace
}  // namespace sp::arch
