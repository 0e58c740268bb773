// N threads (default 8) call outer(), which calls inner() twice, until stdin ends, and check what
// they get; every other one has SIGTRAP blocked, but not with a second argument, and looks whether
// it still is. The main thread handles a request for each byte of stdin: 's' takes 30 ms, 'q' is
// quick, 'l' says "long" and lasts until the next byte; it says "done".
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CALLED __attribute__((noinline, noipa, used))

static volatile int ends;
static int masks = 1;
static volatile long wrong;
static volatile long handled;

static void rest(long microseconds) {
  const struct timespec time = {0, microseconds * 1000};
  nanosleep(&time, NULL);
}

CALLED long inner(long value) { return 2 * value; }

CALLED long outer(long value) { return inner(value) + inner(value + 1); }

CALLED void* work(void* number) {
  const long own = (long)number;
  sigset_t trap;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  const int blocks = masks && own % 2 == 1;
  if (blocks) pthread_sigmask(SIG_BLOCK, &trap, NULL);
  for (long i = 0; !ends; ++i) {
    if (outer(i) != 4 * i + 2) ++wrong;
    if (i % 64 == 0) {
      sigset_t now;
      pthread_sigmask(SIG_BLOCK, NULL, &now);
      if (sigismember(&now, SIGTRAP) != blocks) ++wrong;
      rest(200);
    }
  }
  return NULL;
}

CALLED void part_of_request(long time) {
  char byte = 0;
  if (time > 0) rest(time);
  if (time < 0) {
    puts("long");
    fflush(stdout);
    if (read(0, &byte, 1) < 1) ++wrong;
  }
}

CALLED void handle_request(long time) {
  part_of_request(time);
  part_of_request(0);
  ++handled;  // else the second is a tail call
}

int main(int argc, char** argv) {
  const long threads = argc > 1 ? atol(argv[1]) : 8;
  masks = argc <= 2;
  pthread_t ids[64];
  for (long i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, work, (void*)i);
  puts("ready");
  fflush(stdout);
  char byte = 0;
  while (read(0, &byte, 1) == 1) {
    handle_request(byte == 's' ? 30000 : byte == 'l' ? -1 : 0);
    puts("done");
    fflush(stdout);
  }
  ends = 1;
  for (long i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  puts(wrong == 0 ? "right" : "WRONG");
  return wrong == 0 ? 0 : 1;
}
