// Counts by itself as copies of functions do, at an address that its standard input tells in hex:
// long-lived threads and short ones, a number of rounds. After each it prints a line and waits for
// one. segment_counts LONG SHORT ROUNDS [gs: the program uses the segment itself]
// Each thread adds 1000 to counter 0, 2000 to counter 1 and so on, each round.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kCounters = 4, kTimes = 1000 };

static uint64_t counters;
static atomic_int go;    // the round that long-lived threads may count in
static atomic_int done;  // how many have done so

static void count(void) {
  for (int counter = 0; counter < kCounters; ++counter) {
    for (int i = 0; i < kTimes * (counter + 1); ++i) {
#ifdef __x86_64__
      __asm__ volatile("incq %%gs:(%0)" : : "r"(counters + 8 * (uint64_t)counter) : "memory", "cc");
#endif
    }
  }
}

static void* live_long(void* unused) {
  for (int round = 1;; ++round) {
    int now = 0;
    while ((now = go) < round) {
      if (now < 0) {
        return unused;
      }
      sched_yield();
    }
    count();
    atomic_fetch_add(&done, 1);
  }
}

static void* live_shortly(void* unused) {
  count();
  return unused;
}

int main(int argc, char** argv) {
  if (argc < 4) {
    return 2;
  }
  const int lasting = atoi(argv[1]);
  const int passing = atoi(argv[2]);
  const int rounds = atoi(argv[3]);
#ifdef __x86_64__
  if (argc > 4) {
    static char own[64];
    syscall(SYS_arch_prctl, 0x1001 /* ARCH_SET_GS */, own);
  }
#endif
  pthread_t threads[1024];
  for (int i = 0; i < lasting; ++i) {
    pthread_create(&threads[i], NULL, live_long, NULL);
  }
  printf("ready\n");
  fflush(stdout);
  char line[64];
  if (fgets(line, sizeof line, stdin) == NULL) {
    return 1;
  }
  counters = strtoull(line, NULL, 16);
  for (int round = 1; round <= rounds; ++round) {
    done = 0;
    go = round;
    for (int i = 0; i < passing; ++i) {
      pthread_create(&threads[lasting + i], NULL, live_shortly, NULL);
    }
    for (int i = 0; i < passing; ++i) {
      pthread_join(threads[lasting + i], NULL);
    }
    while (done < lasting) {
      sched_yield();
    }
    count();
    printf("%d\n", round);
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL) {
      return 1;
    }
  }
  go = -1;
  for (int i = 0; i < lasting; ++i) {
    pthread_join(threads[i], NULL);
  }
  printf("right\n");
  return 0;
}
