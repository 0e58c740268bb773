#include "supervisor/instruments/sigtrap_mask.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

constexpr std::uint64_t kUsr1 = signal_bit(SIGUSR1);
constexpr std::uint64_t kTrap = signal_bit(SIGTRAP);

TEST(MaskAfter, is_what_sigprocmask_says) {
  EXPECT_EQ(mask_after(SIG_BLOCK, kUsr1, kTrap), kUsr1 | kTrap);
  EXPECT_EQ(mask_after(SIG_UNBLOCK, kUsr1 | kTrap, kTrap), kUsr1);
  EXPECT_EQ(mask_after(SIG_SETMASK, kUsr1, kTrap), kTrap);
}

TEST(MaskAfter, never_blocks_what_cannot_be_blocked) {
  const std::uint64_t all = ~std::uint64_t{0};
  const auto after = mask_after(SIG_SETMASK, 0, all);
  ASSERT_TRUE(after);
  EXPECT_EQ(*after & (signal_bit(SIGKILL) | signal_bit(SIGSTOP)), 0U);
  EXPECT_EQ(*after | signal_bit(SIGKILL) | signal_bit(SIGSTOP), all);
}

TEST(MaskAfter, is_nothing_for_an_invalid_request) { EXPECT_FALSE(mask_after(99, 0, 0)); }

TEST(SigtrapMask, inherits_that_the_creator_blocks_sigtrap) {
  SigtrapMask mask(MaskChanges::seen);
  EXPECT_FALSE(mask.blocks_trap());
  mask.inherit(true);
  EXPECT_TRUE(mask.blocks_trap());
  mask.inherit(false);
  EXPECT_TRUE(mask.blocks_trap());
}

}  // namespace
}  // namespace sp::supervisor
