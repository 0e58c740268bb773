#include "supervisor/instruments/trap_origin.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <vector>

#include "arch/native.h"

namespace sp::supervisor {
namespace {

using arch::Native;

constexpr std::size_t kLonger = Native::kBreakpoint.size() + 1;

/// A code that Native takes for what `is` says.
template <typename Is>
int code_that(const Is& is) {
  for (int code = 1; code < 256; ++code) {
    if (is(code)) {
      return code;
    }
  }
  ADD_FAILURE() << "no such si_code";
  return 0;
}

int breakpoint_code() {
  return code_that([](int code) { return Native::is_breakpoint_code(code); });
}
int step_code() {
  return code_that([](int code) {
    return Native::is_step_code(code) && !Native::is_breakpoint_code(code) && code != SIGTRAP;
  });
}

TEST(TrapOrigin, is_a_breakpoint_under_a_longer_instruction_whatever_the_kernel_says) {
  EXPECT_EQ(classify_trap({true, true, kLonger, std::nullopt}), TrapOrigin::breakpoint);
  EXPECT_EQ(classify_trap({true, true, kLonger, step_code()}), TrapOrigin::breakpoint);
}

TEST(TrapOrigin, of_a_short_instruction_needs_the_kernels_code) {
  constexpr std::size_t kShort = Native::kBreakpoint.size();
  EXPECT_EQ(classify_trap({true, true, kShort, std::nullopt}), TrapOrigin::thread_gone);
  EXPECT_EQ(classify_trap({true, true, kShort, breakpoint_code()}), TrapOrigin::breakpoint);
  EXPECT_EQ(classify_trap({true, true, kShort, step_code()}), TrapOrigin::step);
}

// AArch64's kernel says that nobody has sent it.
TEST(TrapOrigin, of_a_step_through_a_system_call_is_the_step) {
  siginfo_t info{};
  info.si_signo = SIGTRAP;
  info.si_code = SI_USER;
  const bool is_aarch64 = Native::kName == "aarch64";
  EXPECT_EQ(Native::is_step_code(Native::trap_code(info)), is_aarch64);
  info.si_pid = 1;  // somebody has
  EXPECT_FALSE(Native::is_step_code(Native::trap_code(info)));
  info.si_code = step_code();
  EXPECT_EQ(Native::trap_code(info), step_code());
}

TEST(TrapOrigin, of_a_breakpoint_that_was_removed_before_the_report) {
  EXPECT_EQ(classify_trap({true, false, kLonger, breakpoint_code()}),
            TrapOrigin::removed_breakpoint);
}

TEST(TrapOrigin, is_the_targets_where_no_breakpoint_of_ours_ever_was) {
  EXPECT_NE(classify_trap({false, false, 0, breakpoint_code()}), TrapOrigin::breakpoint);
  EXPECT_NE(classify_trap({false, false, 0, breakpoint_code()}), TrapOrigin::removed_breakpoint);
  for (const int code : std::vector<int>{SI_USER, SI_TKILL, SI_QUEUE}) {
    EXPECT_EQ(classify_trap({true, false, kLonger, code}), TrapOrigin::target) << code;
  }
}

TEST(TrapOrigin, is_a_handlers_entry_where_the_code_is_the_signals_number) {
  EXPECT_EQ(classify_trap({false, false, 0, SIGTRAP}), TrapOrigin::handler_entry);
}

}  // namespace
}  // namespace sp::supervisor
