#include "supervisor/tracees/process_cpu.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

namespace sp::supervisor {
namespace {

using std::chrono::milliseconds;

TEST(ProcessCpu, tells_what_was_added_since_the_last_time) {
  ProcessCpu cpu(::getpid());
  const core::Duration before = core::thread_cpu_time();
  while (core::thread_cpu_time() - before < milliseconds(20)) {
  }
  EXPECT_GE(cpu.take(), milliseconds(20));
  EXPECT_LT(cpu.take(), milliseconds(20));
}

TEST(ProcessCpu, has_children_that_were_waited_for_only_on_request) {
  ProcessCpu alone(::getpid());
  ProcessCpu all(::getpid(), true);
  const pid_t child = ::fork();
  if (child == 0) {
    while (core::thread_cpu_time() < milliseconds(80)) {
    }
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_GE(all.take(),
            milliseconds(60));  // in steps of 10 ms, of the user's and the kernel's part
  EXPECT_LT(all.take(), milliseconds(60));
  EXPECT_LT(alone.take(), milliseconds(60));
}

TEST(ProcessCpu, is_nothing_where_there_is_no_process) {
  constexpr pid_t kAboveAll = 1 << 22;  // PID_MAX_LIMIT
  ProcessCpu cpu(kAboveAll);
  EXPECT_EQ(cpu.take(), core::Duration{});
}

}  // namespace
}  // namespace sp::supervisor
