// Single-stepping, as a baseline for bench/exact_speed: PTRACE_SINGLESTEP and wait, nothing else,
// on the CPU of the target. Arguments: STEPS COMMAND...
#include <fmt/format.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc < 3) {
    return 2;
  }
  const long most = std::atol(argv[1]);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
  ::sched_setaffinity(0, sizeof one, &one);
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::execvp(argv[2], argv + 2);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  const auto begin = std::chrono::steady_clock::now();
  long steps = 0;
  while (WIFSTOPPED(status) && steps < most &&
         ::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) == 0 &&
         ::waitpid(child, &status, 0) == child) {
    ++steps;
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  ::ptrace(PTRACE_KILL, child, nullptr, nullptr);
  if (steps == 0) {
    return 1;
  }
  fmt::print(stderr, "{:.3f}\n", took.count() / static_cast<double>(steps));
  return 0;
}
