// May have no more signals pending (RLIMIT_SIGPENDING): the kernel then does not say who has sent
// one. Prints "ready", then computes until stdin ends, or, with an argument, so many turns.
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static volatile unsigned sink;

__attribute__((noinline)) static void compute(void) {
  for (int i = 0; i < 200000; ++i) sink = sink * 3 + 1;
}

int main(int argc, char** argv) {
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_SIGPENDING, &none);
  puts("ready");
  fflush(stdout);
  const int turns = argc > 1 ? atoi(argv[1]) : 0;
  struct pollfd in = {0, POLLIN, 0};
  for (int i = 0; turns > 0 ? i < turns : poll(&in, 1, 0) == 0; ++i) compute();
  puts("done");
  return 0;
}
