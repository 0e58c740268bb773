#include "supervisor/guardian/trap_drain.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

/// Stopped, as the threads of a target are whose tracer was killed.
class StoppedChild {
 public:
  StoppedChild() : pid_(::fork()) {
    if (pid_ == 0) {
      ::raise(SIGSTOP);
      ::_exit(0);
    }
    int status = 0;
    stopped_ = ::waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status);
  }
  StoppedChild(const StoppedChild&) = delete;
  StoppedChild& operator=(const StoppedChild&) = delete;
  ~StoppedChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool is_stopped() const { return stopped_; }

 private:
  pid_t pid_;
  bool stopped_ = false;
};

TEST(TrapDrain, does_not_wait_for_a_thread_that_is_stopped_elsewhere) {
  constexpr std::uint64_t kEnough = 20'000;
  const StoppedChild child;
  ASSERT_TRUE(child.is_stopped());
  std::uint64_t at = 0;
  TrapDrain elsewhere(child.pid(), kEnough, [&at](std::uint64_t pc) {
    at = pc;
    return false;
  });
  EXPECT_TRUE(elsewhere.check());
  EXPECT_NE(at, 0U);
  TrapDrain there(child.pid(), kEnough, [at](std::uint64_t pc) { return pc == at; });
  EXPECT_FALSE(there.check());
  EXPECT_FALSE(TrapDrain(child.pid(), kEnough).check()) << "it does not look where threads stand";
}

/// Waits in vfork for a child that waits for ever.
class WaitingParent {
 public:
  WaitingParent() : pid_(::fork()) {
    if (pid_ == 0) {
      ::setpgid(0, 0);
      if (::vfork() == 0) {  // NOLINT(clang-analyzer-*): that is what is looked at
        for (;;) {
          ::pause();
        }
      }
      ::_exit(0);
    }
  }
  WaitingParent(const WaitingParent&) = delete;
  WaitingParent& operator=(const WaitingParent&) = delete;
  ~WaitingParent() {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool waits() const {
    for (int look = 0; look < 3000; ++look) {
      const auto stat = read_stat(pid_);
      if (stat && stat->state == 'D') {
        return true;
      }
      ::usleep(10'000);
    }
    return false;
  }

 private:
  pid_t pid_;
};

TEST(TrapDrain, does_not_wait_for_the_parent_of_a_vfork) {
  const WaitingParent parent;
  ASSERT_TRUE(parent.waits());
  EXPECT_TRUE(TrapDrain(parent.pid()).check());
}

TEST(TrapDrain, is_over_with_the_process) {
  pid_t gone = 0;
  {
    const StoppedChild child;
    gone = child.pid();
  }
  EXPECT_TRUE(TrapDrain(gone).check());
}

}  // namespace
}  // namespace sp::supervisor
