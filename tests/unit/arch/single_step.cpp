#include "arch/aarch64/single_step.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "arch/x86_64/single_step.h"
#include "unit/arch/bytes.h"
#include "unit/arch/pretended_memory.h"

namespace sp::arch {
namespace {

constexpr std::uint64_t kStack = 0x7000;

std::uint64_t top_of_stack_after(std::string_view code, std::uint64_t word) {
  PretendedMemory memory;
  memory.words[kStack] = word;
  x86_64::Registers registers{};
  registers.rsp = kStack;
  EXPECT_FALSE(x86_64::hide_step(bytes_of(code), registers, memory));
  return memory.words[kStack];
}

TEST(HideStep, clears_the_trap_flag_that_pushf_stored) {
  EXPECT_EQ(top_of_stack_after("9c", 0x346), 0x246U);
  EXPECT_EQ(top_of_stack_after("66 9c", 0xffff0346), 0xffff0246U);
  EXPECT_EQ(top_of_stack_after("48 9c 58", 0x346), 0x246U);
}

TEST(HideStep, leaves_everything_else_alone) {
  EXPECT_EQ(top_of_stack_after("9c", 0x246), 0x246U);
  EXPECT_EQ(top_of_stack_after("50", 0x346), 0x346U);        // push rax
  EXPECT_EQ(top_of_stack_after("0f 9c c0", 0x346), 0x346U);  // setl al
  EXPECT_EQ(top_of_stack_after("66", 0x346), 0x346U);
  EXPECT_EQ(top_of_stack_after("", 0x346), 0x346U);
}

TEST(HideStep, clears_a_trap_flag_that_the_program_did_not_set) {
  PretendedMemory memory;
  x86_64::Registers registers{};
  registers.eflags = 0x302;
  EXPECT_TRUE(x86_64::hide_step(bytes_of("58"), registers, memory));
  EXPECT_EQ(registers.eflags, 0x202U);
  registers.eflags = 0x302;
  EXPECT_FALSE(x86_64::hide_step(bytes_of("9d"), registers, memory));  // popf
  EXPECT_EQ(registers.eflags, 0x302U);
}

TEST(HideStep, gives_up_where_the_stack_cannot_be_read) {
  PretendedMemory memory;
  x86_64::Registers registers{};
  registers.rsp = kStack;
  EXPECT_FALSE(x86_64::hide_step(bytes_of("9c"), registers, memory));
  EXPECT_TRUE(memory.words.empty());
}

TEST(StepsItself, is_seen_by_the_trap_flag_where_there_is_one) {
  x86_64::Registers registers{};
  registers.eflags = 0x202;
  EXPECT_FALSE(x86_64::steps_itself(registers));
  registers.eflags = 0x302;
  EXPECT_TRUE(x86_64::steps_itself(registers));
  EXPECT_FALSE(aarch64::steps_itself({}));
}

}  // namespace
}  // namespace sp::arch
