#include "supervisor/instruments/signal_handlers.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace sp::supervisor {
namespace {

using Kind = SignalHandlers::Kind;

SignalAction handler_with(std::uint64_t mask) { return {0x1000, 0, 0, mask}; }

TEST(SignalHandlers, need_a_stop_until_something_is_known) {
  SignalHandlers handlers;
  handlers.learn(SIGUSR1, Kind::leaves_trap);
  EXPECT_TRUE(handlers.needs_stop(SIGUSR1));  // it may have changed meanwhile
  handlers.begin();
  EXPECT_FALSE(handlers.needs_stop(SIGUSR1));
  EXPECT_TRUE(handlers.needs_stop(SIGUSR2));
}

TEST(SignalHandlers, need_a_stop_where_they_block_sigtrap) {
  SignalHandlers handlers;
  handlers.begin();
  handlers.set(SIGUSR1, handler_with(~std::uint64_t{0}));
  handlers.set(SIGUSR2, handler_with(signal_bit(SIGUSR1)));
  handlers.set(SIGCHLD, SignalAction{});
  EXPECT_TRUE(handlers.needs_stop(SIGUSR1));
  EXPECT_FALSE(handlers.needs_stop(SIGUSR2));
  EXPECT_FALSE(handlers.needs_stop(SIGCHLD));
  handlers.forget(SIGUSR2);
  EXPECT_TRUE(handlers.needs_stop(SIGUSR2));
}

TEST(SignalHandlers, give_the_programs_action_for_the_kernels) {
  SignalHandlers handlers;
  const SignalAction given = handler_with(~std::uint64_t{0});
  // The kernel notes no signal that cannot be blocked.
  const SignalAction all = handler_with(~(signal_bit(SIGKILL) | signal_bit(SIGSTOP)));
  EXPECT_TRUE(blocks_trap(all));
  EXPECT_FALSE(blocks_trap(without_trap(all)));
  EXPECT_EQ(handlers.as_set(SIGUSR1, without_trap(all)).mask, without_trap(all).mask);
  handlers.set(SIGUSR1, given, true);
  EXPECT_EQ(handlers.as_set(SIGUSR1, without_trap(all)).mask, all.mask);
  SignalAction reset = without_trap(all);
  reset.handler = 0;  // SA_RESETHAND
  EXPECT_EQ(handlers.as_set(SIGUSR1, reset).mask, all.mask);
  // Set behind our back.
  SignalAction other = without_trap(all);
  other.handler += 1;
  EXPECT_EQ(handlers.as_set(SIGUSR1, other).mask, other.mask);
  handlers.begin_again();
  EXPECT_TRUE(handlers.is_hidden(SIGUSR1));
  handlers.set(SIGUSR1, handler_with(0));
  EXPECT_FALSE(handlers.is_hidden(SIGUSR1));
}

TEST(SignalHandlers, take_any_number_that_a_program_passes) {
  SignalHandlers handlers;
  handlers.begin();
  handlers.set(~std::uint64_t{0}, SignalAction{});
  handlers.forget(1'000);
  EXPECT_TRUE(handlers.needs_stop(64));
}

}  // namespace
}  // namespace sp::supervisor
