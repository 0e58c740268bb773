// A SIGSTOP of others that arrives while a thread makes a system call for us.
#include "supervisor/linux/deferred_stop.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <variant>

#include "supervisor/injection/remote_stops.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/wait_status.h"

namespace sp::supervisor {
namespace {

/// What the tracer exits with.
enum Seen : int { stopped = 10, runs = 11, failed = 12 };

/// SIGSTOP, and SIGCONT behind it where `continued`, come while the target runs to its next system
/// call. Tells in what state that leaves it.
int stop_on_the_way_to_a_call(pid_t target, bool continued) {
  ptrace::bind_to_this_thread();
  if (!ptrace::seize(target, {}) || !ptrace::interrupt(target) || !ptrace::wait_for(target)) {
    return failed;
  }
  ::kill(target, SIGSTOP);
  DeferredStop deferred;
  if (!run_to_call(target, StopReason::call_entry, deferred) || !deferred.of_others) {
    return failed;
  }
  if (continued) {
    ::kill(target, SIGCONT);
  }
  deferred.end(target);
  int signal = 0;
  for (int stop = 0; stop < 4; ++stop) {
    if (!ptrace::resume(target, signal)) {
      return failed;
    }
    const auto report = ptrace::wait_for(target);
    if (!report) {
      return failed;
    }
    const WaitStatus status = parse_wait_status(report->status);
    if (std::holds_alternative<GroupStop>(status)) {
      return stopped;
    }
    const auto* const delivery = std::get_if<SignalDelivery>(&status);
    signal = delivery != nullptr ? delivery->signal : 0;
    if (signal == SIGCONT) {
      return ptrace::detach(target, signal) ? runs : failed;
    }
  }
  return failed;
}

int seen_after_stop(bool continued) {
  const pid_t target = ::fork();
  if (target == 0) {
    ::alarm(60);
    for (;;) {
      (void)::syscall(SYS_getppid);
    }
  }
  const pid_t tracer = ::fork();
  if (tracer == 0) {
    ::alarm(30);
    ::_exit(stop_on_the_way_to_a_call(target, continued));
  }
  int status = -1;
  ::waitpid(tracer, &status, 0);
  ::kill(target, SIGKILL);
  ::waitpid(target, nullptr, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(DeferredStop, stops_the_program_after_the_call) { EXPECT_EQ(seen_after_stop(false), stopped); }

TEST(DeferredStop, is_undone_by_a_sigcont_that_follows) { EXPECT_EQ(seen_after_stop(true), runs); }

}  // namespace
}  // namespace sp::supervisor
