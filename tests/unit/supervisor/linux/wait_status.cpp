#include "supervisor/linux/wait_status.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>

namespace sp::supervisor {
namespace {

// The layout of wait(2)'s status, as the kernel fills it.
constexpr int exited(int code) { return code << 8; }
constexpr int killed(int signal, bool core) { return signal | (core ? 0x80 : 0); }
constexpr int stopped(int signal, int event = 0) { return 0x7F | signal << 8 | event << 16; }

TEST(WaitStatus, tells_an_exit) {
  const auto status = parse_wait_status(exited(42));
  ASSERT_TRUE(std::holds_alternative<Exited>(status));
  EXPECT_EQ(std::get<Exited>(status).code, 42);
  EXPECT_EQ(std::get<Exited>(parse_wait_status(exited(0))).code, 0);
  EXPECT_EQ(std::get<Exited>(parse_wait_status(exited(255))).code, 255);
}

TEST(WaitStatus, tells_a_death_with_and_without_a_core) {
  EXPECT_EQ(std::get<Killed>(parse_wait_status(killed(SIGKILL, false))).signal, SIGKILL);
  EXPECT_EQ(std::get<Killed>(parse_wait_status(killed(SIGSEGV, true))).signal, SIGSEGV);
}

TEST(WaitStatus, tells_a_signal_that_is_to_be_delivered) {
  for (const int signal : {SIGSTOP, SIGTRAP, SIGCONT, SIGSEGV, SIGRTMIN + 3}) {
    const auto status = parse_wait_status(stopped(signal));
    ASSERT_TRUE(std::holds_alternative<SignalDelivery>(status)) << signal;
    EXPECT_EQ(std::get<SignalDelivery>(status).signal, signal);
  }
}

TEST(WaitStatus, tells_a_group_stop_from_a_stop_of_ours) {
  for (const int signal : {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU}) {
    const auto status = parse_wait_status(stopped(signal, PTRACE_EVENT_STOP));
    ASSERT_TRUE(std::holds_alternative<GroupStop>(status)) << signal;
    EXPECT_EQ(std::get<GroupStop>(status).signal, signal);
  }
  EXPECT_TRUE(std::holds_alternative<InterruptStop>(
      parse_wait_status(stopped(SIGTRAP, PTRACE_EVENT_STOP))));
}

TEST(WaitStatus, tells_events) {
  const auto event = [](int number) {
    return std::get<EventStop>(parse_wait_status(stopped(SIGTRAP, number))).event;
  };
  EXPECT_EQ(event(PTRACE_EVENT_FORK), Event::fork);
  EXPECT_EQ(event(PTRACE_EVENT_VFORK), Event::vfork);
  EXPECT_EQ(event(PTRACE_EVENT_CLONE), Event::clone);
  EXPECT_EQ(event(PTRACE_EVENT_EXEC), Event::exec);
  EXPECT_EQ(event(PTRACE_EVENT_EXIT), Event::exit);
  EXPECT_EQ(event(PTRACE_EVENT_VFORK_DONE), Event::other);
}

TEST(WaitStatus, knows_that_a_continue_is_no_stop) {
  EXPECT_TRUE(std::holds_alternative<NotAStop>(parse_wait_status(0xFFFF)));
}

}  // namespace
}  // namespace sp::supervisor
