// System calls that fail with EINTR because of a stop, or because of a signal's handler.
#include "supervisor/linux/syscall_restart.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <thread>

#include "arch/native.h"
#include "core/address.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {
namespace {

using arch::Native;

void do_nothing(int /*signal*/) {}

/// A child that waits for an event in a system call that returns EINTR whenever it is interrupted.
/// Exits with 0 if the event came, with 1 if the call returned EINTR.
class SyscallRestart : public ::testing::Test {
 protected:
  SyscallRestart() : event_(::eventfd(0, EFD_CLOEXEC)), child_(::fork()) {
    if (child_ == 0) {
      ::_exit(wait());
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));  // let it begin to wait
    ptrace::bind_to_this_thread();
    EXPECT_TRUE(ptrace::seize(child_, {}));
  }
  ~SyscallRestart() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::close(event_);
  }

  [[nodiscard]] int wait() const {
    struct sigaction action {};
    action.sa_handler = do_nothing;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGUSR1, &action, nullptr);
    const int queue = ::epoll_create1(0);
    epoll_event wanted{EPOLLIN, {}};
    if (::epoll_ctl(queue, EPOLL_CTL_ADD, event_, &wanted) != 0) {
      return 2;
    }
    epoll_event came{};
    const int events = ::epoll_wait(queue, &came, 1, 60'000);
    return events == 1 ? 0 : events == -1 && errno == EINTR ? 1 : 3;
  }
  void stop() {
    call_.look(child_);
    EXPECT_TRUE(ptrace::interrupt(child_));
    EXPECT_TRUE(ptrace::wait_for(child_));
    call_.note_stop(child_, true);
  }
  /// Lets the event come, and returns the exit status of the child.
  int end() const {
    EXPECT_TRUE(ptrace::resume(child_, 0));
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(event_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
    auto report = ptrace::wait_for(child_);
    while (report && WIFSTOPPED(report->status)) {  // its exit is announced
      EXPECT_TRUE(ptrace::resume(child_, 0));
      report = ptrace::wait_for(child_);
    }
    return report && WIFEXITED(report->status) ? WEXITSTATUS(report->status) : -1;
  }
  [[nodiscard]] bool undo(int signal) {
    auto registers = ptrace::registers(child_);
    return registers && restart_interrupted_call(child_, *registers, signal, call_);
  }
  [[nodiscard]] core::Address pc() const {
    const auto registers = ptrace::registers(child_);
    return registers ? Native::pc(*registers) : core::Address{};
  }

  int event_;
  pid_t child_;
  InterruptedCall call_;
};

TEST_F(SyscallRestart, makes_a_call_again_that_only_a_stop_has_ended) {
  stop();
  EXPECT_TRUE(undo(0));
  EXPECT_EQ(end(), 0);
}

TEST_F(SyscallRestart, lets_a_handler_end_a_call_that_was_to_be_made_again) {
  stop();
  EXPECT_TRUE(undo(0));
  ::kill(child_, SIGUSR1);
  ASSERT_TRUE(ptrace::resume(child_, 0));
  const auto report = ptrace::wait_for(child_);
  ASSERT_TRUE(report && WIFSTOPPED(report->status) && WSTOPSIG(report->status) == SIGUSR1);
  call_.note_stop(child_, true);
  EXPECT_FALSE(undo(SIGUSR1));
  ASSERT_TRUE(ptrace::resume(child_, SIGUSR1));
  ASSERT_TRUE(ptrace::wait_for(child_));  // its exit is announced
  EXPECT_EQ(end(), 1);
}

TEST_F(SyscallRestart, leaves_a_call_ended_that_a_handler_has_ended) {
  call_.look(child_);
  ::kill(child_, SIGUSR1);
  const auto report = ptrace::wait_for(child_);
  ASSERT_TRUE(report && WIFSTOPPED(report->status) && WSTOPSIG(report->status) == SIGUSR1);
  call_.note_stop(child_, true);
  EXPECT_FALSE(undo(SIGUSR1));
  const core::Address behind = pc();
  ASSERT_TRUE(ptrace::step(child_, SIGUSR1));
  ASSERT_TRUE(ptrace::wait_for(child_));
  ASSERT_NE(pc(), behind);
  for (int i = 0; i < 10'000 && pc() != behind; ++i) {
    ASSERT_TRUE(ptrace::step(child_, 0));
    ASSERT_TRUE(ptrace::wait_for(child_));
  }
  // The handler has returned, and the thread looks as if a stop had ended its call.
  ASSERT_EQ(pc(), behind);
  call_.note_stop(child_, true);
  EXPECT_FALSE(undo(0));
  EXPECT_EQ(end(), 1);
}

}  // namespace
}  // namespace sp::supervisor
