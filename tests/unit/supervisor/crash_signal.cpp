#include "supervisor/crash_signal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

std::string status(std::uint64_t ignored, std::uint64_t caught,
                   const std::string& pids = "4711\t12") {
  return fmt::format(
      "Name:\tx\nNSpid:\t{}\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\n"
      "SigBlk:\t0000000000000000\nSigIgn:\t{:016x}\nSigCgt:\t{:016x}\n",
      pids, ignored, caught);
}

TEST(CrashSignal, are_those_that_dump_core) {
  for (const int signal :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGQUIT, SIGXCPU, SIGXFSZ}) {
    EXPECT_TRUE(dies_with_core(status(0, 0), signal, true)) << signal;
  }
  for (const int signal : {SIGTERM, SIGINT, SIGKILL, SIGPIPE, SIGHUP, SIGCHLD, SIGSTOP, 40}) {
    EXPECT_FALSE(dies_with_core(status(0, 0), signal, true)) << signal;
  }
}

TEST(CrashSignal, with_a_handler_or_ignored_is_none) {
  const std::uint64_t segv = signal_bit(SIGSEGV);
  EXPECT_FALSE(dies_with_core(status(segv, 0), SIGSEGV, false));
  EXPECT_FALSE(dies_with_core(status(0, segv), SIGSEGV, false));
  EXPECT_TRUE(dies_with_core(status(~segv, ~segv), SIGSEGV, false));
  EXPECT_FALSE(dies_with_core("Name:\tx\n", SIGSEGV, false)) << "nothing is known";
}

TEST(CrashSignal, that_is_sent_does_nothing_to_the_first_process_of_a_namespace) {
  EXPECT_FALSE(dies_with_core(status(0, 0, "1"), SIGQUIT, true));
  EXPECT_FALSE(dies_with_core(status(0, 0, "4711\t1"), SIGQUIT, true));
  EXPECT_TRUE(dies_with_core(status(0, 0, "4711\t1"), SIGSEGV, false));
  EXPECT_TRUE(dies_with_core(status(0, 0, "4711\t11"), SIGQUIT, true));
}

}  // namespace
}  // namespace sp::supervisor
