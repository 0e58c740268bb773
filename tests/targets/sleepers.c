// Sleeps in a known function for a known time, then spins in another: wait_in_sleep() about 3/4 of
// the time, burn() about 1/4. Argument: rounds of 40 ms.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) void wait_in_sleep(void) {
  const struct timespec t = {0, 30000000};
  nanosleep(&t, NULL);
  __asm__ volatile("");
}

__attribute__((noinline)) void burn(void) {
  const double until = now() + 0.010;
  while (now() < until) {
  }
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 25;
  for (int i = 0; i < rounds; ++i) {
    wait_in_sleep();
    burn();
  }
  puts("done");
  return 0;
}
