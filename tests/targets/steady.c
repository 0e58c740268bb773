// Threads work, each in its own way, and sleep, each in its own way, until stdin ends; then the
// work is checked. Says "ready" when all of them are there. Arguments: WORKERS [SLEEPERS].
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static volatile int over;
static volatile int wrong;
static int there;
static sem_t never_posted;
static pthread_mutex_t never_free = PTHREAD_MUTEX_INITIALIZER;
static int nothing_comes[2];

static void arrive(void) { __atomic_fetch_add(&there, 1, __ATOMIC_RELAXED); }

__attribute__((noinline)) uint64_t add_up(uint64_t upto) {
  uint64_t sum = 0;
  for (uint64_t i = 1; i <= upto; ++i) {
    sum += i;
    __asm__ volatile("" : "+r"(sum));
  }
  return sum;
}

static void* work(void* rounds) {
  arrive();
  while (!over) {
    if (add_up(100000) != 5000050000ULL) wrong = 1;
    ++*(uint64_t*)rounds;
  }
  return NULL;
}

static void* rest(void* kind) {
  arrive();
  const struct timespec hour = {3600, 0};
  struct epoll_event event;
  char byte;
  switch ((intptr_t)kind % 5) {
    case 0:
      sem_wait(&never_posted);
      break;
    case 1:
      nanosleep(&hour, NULL);
      break;
    case 2:
      pthread_mutex_lock(&never_free);
      break;
    case 3:
      if (read(nothing_comes[0], &byte, 1) != 0) wrong = 1;
      break;
    default:
      epoll_wait(epoll_create1(0), &event, 1, -1);
  }
  wrong = 1;  // nothing may wake it
  return NULL;
}

int main(int argc, char** argv) {
  const int workers = argc > 1 ? atoi(argv[1]) : 2;
  const int sleepers = argc > 2 ? atoi(argv[2]) : 0;
  pthread_t ids[256];
  static uint64_t rounds[256];
  pthread_mutex_lock(&never_free);
  sem_init(&never_posted, 0, 0);
  if (pipe(nothing_comes) != 0 || workers + sleepers > 256) return 2;
  for (intptr_t i = 0; i < workers + sleepers; ++i) {
    void* argument = i < workers ? (void*)&rounds[i] : (void*)(i - workers);
    if (pthread_create(&ids[i], NULL, i < workers ? work : rest, argument) != 0) return 2;
  }
  while (__atomic_load_n(&there, __ATOMIC_RELAXED) < workers + sleepers) usleep(1000);
  puts("ready");
  fflush(stdout);
  char byte;
  ssize_t got;
  while ((got = read(0, &byte, 1)) > 0) {
  }
  over = 1;
  for (int i = 0; i < workers; ++i) pthread_join(ids[i], NULL);
  const int right = got == 0 && !wrong;
  puts(right ? "right" : "WRONG");
  return right ? 0 : 1;
}
