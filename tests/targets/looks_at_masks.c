// 8 threads, of which every other one has SIGTRAP blocked, look at their masks until stdin ends,
// and rest in between for so many microseconds (first argument).
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kThreads = 8 };

static volatile int ends;
static volatile long wrong;
static struct timespec rest;

static void* look(void* number) {
  const int blocks = (long)number % 2 == 1;
  sigset_t trap;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  if (blocks) pthread_sigmask(SIG_BLOCK, &trap, NULL);
  volatile unsigned work = 1;
  while (!ends) {
    for (int i = 0; i < 2000; ++i) work = 3 * work + 1;
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    if (sigismember(&now, SIGTRAP) != blocks) ++wrong;
    if (rest.tv_sec + rest.tv_nsec > 0) nanosleep(&rest, NULL);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const long microseconds = argc > 1 ? atol(argv[1]) : 0;
  rest.tv_sec = microseconds / 1000000;
  rest.tv_nsec = microseconds % 1000000 * 1000;
  pthread_t ids[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&ids[i], NULL, look, (void*)i);
  puts("ready");
  fflush(stdout);
  char byte = 0;
  while (read(0, &byte, 1) == 1) {
  }
  ends = 1;
  for (int i = 0; i < kThreads; ++i) pthread_join(ids[i], NULL);
  printf("%ld wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
