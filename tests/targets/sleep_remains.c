// Threads that sleep, and check that nothing is written to where the rest of a sleep is told that
// was interrupted: theirs never are. Ends when stdin does.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int over;
static int changed;

static void* sleep_again_and_again(void* by_clock) {
  struct timespec untouched;
  memset(&untouched, 0x5A, sizeof untouched);
  struct timespec rest = untouched;
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
    const struct timespec time = {0, 100000000};
    const int failed = by_clock != NULL ? clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &rest)
                                        : nanosleep(&time, &rest);
    if (failed != 0 || memcmp(&rest, &untouched, sizeof rest) != 0) {
      __atomic_add_fetch(&changed, 1, __ATOMIC_RELAXED);
      rest = untouched;
    }
  }
  return NULL;
}

int main(void) {
  enum { kThreads = 6 };
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    if (pthread_create(&threads[i], NULL, sleep_again_and_again, i % 2 == 0 ? NULL : &over) != 0) {
      return 2;
    }
  }
  puts("ready");
  fflush(stdout);
  struct pollfd in = {0, POLLIN, 0};
  while (poll(&in, 1, -1) != 1) {
  }
  __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
  }
  printf("%d changed\n", changed);
  return changed != 0;
}
