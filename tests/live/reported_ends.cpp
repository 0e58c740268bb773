// What the kernel tells of a process when it ends.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "core/clock.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {
namespace {

using std::chrono::milliseconds;

/// A child whose own child uses so much of a CPU, and is waited for.
pid_t start_parent_of_busy_child(core::Duration busy) {
  const pid_t parent = ::fork();
  if (parent != 0) {
    return parent;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    const core::Duration end = core::thread_cpu_time() + busy;
    while (core::thread_cpu_time() < end) {
    }
    ::_exit(0);
  }
  ::_exit(::waitpid(child, nullptr, 0) == child ? 0 : 1);
}

TEST(ReportedEnds, have_the_cpu_time_of_children_too) {
  constexpr core::Duration kBusy = milliseconds(60);
  constexpr core::Duration kLeast = milliseconds(55);  // rusage may count by the kernel's clock
  ptrace::bind_to_this_thread();
  const pid_t taken = start_parent_of_busy_child(kBusy);
  const auto end = ptrace::take(taken, true);
  ASSERT_TRUE(end && *end);
  EXPECT_EQ((*end)->tid, taken);
  EXPECT_EQ((*end)->status, 0);
  EXPECT_GE((*end)->cpu, kLeast);
  const pid_t watched = start_parent_of_busy_child(kBusy);
  ASSERT_TRUE(ptrace::wait_for(watched));
  const auto seen = ptrace::watch(watched);
  ASSERT_TRUE(seen && *seen);
  EXPECT_EQ((*seen)->status, 0);
  EXPECT_GE((*seen)->cpu, kLeast);
}

}  // namespace
}  // namespace sp::supervisor
