// user_time FILE PROGRAM ARGS...: runs the program and appends to FILE what it used: seconds in
// user mode, in the kernel, of wall time, and its greatest resident memory in KiB. Exits with the
// program's status. Superprofiler launches it, so that the time of the target alone is measured and
// not superprofiler's.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::fputs("usage: user_time FILE PROGRAM ARGS...\n", stderr);
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  if (posix_spawnp(&child, words[2], nullptr, nullptr, words + 2, environ) != 0) {
    std::perror(words[2]);
    return 127;
  }
  int status = 0;
  rusage used{};
  while (wait4(child, &status, 0, &used) != child) {
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  std::FILE* file = std::fopen(words[1], "a");
  if (file == nullptr) {
    std::perror(words[1]);
    return 2;
  }
  std::fprintf(file, "%.6f %.6f %.6f %ld\n", seconds(used.ru_utime), seconds(used.ru_stime),
               wall.count(), used.ru_maxrss);
  std::fclose(file);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
