#include "supervisor/sampling/syscall_bias.h"

#include <gtest/gtest.h>

namespace sp::supervisor {
namespace {

/// Adds samples of a program, those on the way out of a system call last.
void add(SyscallBias& bias, int samples, int at_system_call) {
  for (int i = 0; i < samples; ++i) {
    bias.add_sample(i >= samples - at_system_call);
  }
}

TEST(SyscallBias, is_high_if_more_than_one_in_ten_of_64_samples_fall_on_system_calls) {
  SyscallBias few;
  add(few, 64, 6);
  EXPECT_FALSE(few.is_high());
  SyscallBias many;
  add(many, 63, 7);
  EXPECT_FALSE(many.is_high());
  many.add_sample(false);
  EXPECT_TRUE(many.is_high());
}

TEST(SyscallBias, is_high_after_16_samples_if_more_than_a_quarter_fall_on_system_calls) {
  SyscallBias bias;
  add(bias, 15, 5);
  EXPECT_FALSE(bias.is_high());
  bias.add_sample(false);
  EXPECT_TRUE(bias.is_high());
}

TEST(SyscallBias, falls_only_once) {
  SyscallBias bias;
  add(bias, 16, 5);
  add(bias, 255, 5);
  EXPECT_TRUE(bias.is_high());
  bias.add_sample(false);
  EXPECT_FALSE(bias.is_high());
  add(bias, 16, 5);
  EXPECT_TRUE(bias.is_high());
  add(bias, 1000, 0);
  EXPECT_TRUE(bias.is_high());
}

TEST(SyscallBias, stays_high_while_one_in_fifty_samples_falls_on_system_calls) {
  SyscallBias bias;
  add(bias, 16, 5);
  add(bias, 256, 6);
  EXPECT_TRUE(bias.is_high());
}

}  // namespace
}  // namespace sp::supervisor
