// Computes about 1.4 us in work() and makes a system call, again and again: a sampler that comes a
// little late sees the calls only. Argument: rounds. Prints the percentage of the time that the
// calls take, measured with the calls in a loop of their own.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

__attribute__((noinline)) void work(void) {
  uint64_t x = 1;
  for (int i = 0; i < 1600; ++i) {
    x = x * 6364136223846793005ULL + 1;
    __asm__ volatile("" : "+r"(x));
  }
  sink = x;
}

static double used(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? atol(argv[1]) : 500000;
  for (long i = 0; i < rounds; ++i) {
    work();
    syscall(SYS_getppid);
  }
  const double start = used();
  for (long i = 0; i < rounds / 20; ++i) work();
  const double computed = used();
  for (long i = 0; i < rounds / 20; ++i) syscall(SYS_getppid);
  const double called = used();
  printf("%.2f\n", 100 * (called - computed) / (called - start));
  return 0;
}
