// Calls in the ways of C, with known numbers. Built with -pg by the tests, so that uftrace counts
// them, too.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLED __attribute__((noinline, noipa))

static volatile long sink;
static jmp_buf to_outer;

CALLED int fib(int n) {
  if (n < 2) {
    return n;
  }
  const int last = fib(n - 1);
  const int before = fib(n - 2);
  sink = before;
  return last + before;
}

CALLED void hot(long value) { sink = value; }

CALLED void calls_hot(long n) {
  for (long i = 0; i < n; ++i) hot(i);
}

CALLED void ends_chain(long n) { sink = n; }

CALLED void jumps_on(long n) {
  sink = n;
  ends_chain(n);  // with optimisation a jump
}

CALLED int odd(int n);
CALLED int even(int n) {
  const int result = n == 0 ? 1 : odd(n - 1);
  sink = n;
  return result;
}
CALLED int odd(int n) {
  const int result = n == 0 ? 0 : even(n - 1);
  sink = n;
  return result;
}

CALLED int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

CALLED void by_pointer(void (*function)(long), long n) {
  for (long i = 0; i < n; ++i) function(i);
}

CALLED void jumps_back(int n) {
  sink = n;
  longjmp(to_outer, n);
}
CALLED void sets_jump(void) {
  for (volatile int i = 1; i <= 10; ++i) {
    if (setjmp(to_outer) == 0) {
      jumps_back(i);
    }
  }
}

CALLED void on_signal(int number) { sink = number; }

CALLED void* in_thread(void* n) {
  calls_hot((long)n);
  return NULL;
}

CALLED void at_exit(void) { sink = 1; }

__attribute__((constructor)) CALLED void before_main(void) { sink = 2; }

int main(void) {
  atexit(at_exit);
  signal(SIGUSR1, on_signal);
  pthread_t threads[3];
  for (long i = 0; i < 3; ++i) {
    pthread_create(&threads[i], NULL, in_thread, (void*)(100 * (i + 1)));
  }
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  calls_hot(1000);
  for (long i = 0; i < 20; ++i) jumps_on(i);
  by_pointer(ends_chain, 30);
  sets_jump();
  for (int i = 0; i < 5; ++i) raise(SIGUSR1);
  int values[] = {4, 3, 2, 1};  // glibc sorts them by merging: 4 comparisons
  qsort(values, 4, sizeof *values, compare);
  printf("%d %d %d\n", fib(7), even(9), values[0]);
  return 0;
}
