// Two threads take turns: heavy_turn() computes three times as long as light_turn(). Argument:
// turns. Prints the CPU time of each in microseconds: heavy_turn() and light_turn().
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;
static int turn;
static int turns = 400;
static volatile uint64_t sink;
static long cpu_us[2];

#define COMPUTE(name, rounds)                 \
  __attribute__((noinline)) void name(void) { \
    uint64_t x = 1;                           \
    for (int i = 0; i < (rounds); ++i) {      \
      x = x * 6364136223846793005ULL + 1;     \
      __asm__ volatile("" : "+r"(x));         \
    }                                         \
    sink = x;                                 \
  }
COMPUTE(heavy_turn, 3000000)
COMPUTE(light_turn, 1000000)

static void* take_turns(void* which) {
  const int me = (int)(intptr_t)which;
  for (int i = 0; i < turns; ++i) {
    pthread_mutex_lock(&lock);
    while (turn != me) pthread_cond_wait(&passed, &lock);
    pthread_mutex_unlock(&lock);
    if (me == 0) {
      heavy_turn();
    } else {
      light_turn();
    }
    pthread_mutex_lock(&lock);
    turn = !me;
    pthread_cond_signal(&passed);
    pthread_mutex_unlock(&lock);
  }
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  cpu_us[me] = used.tv_sec * 1000000 + used.tv_nsec / 1000;
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) turns = atoi(argv[1]);
  pthread_t heavy, light;
  pthread_create(&heavy, NULL, take_turns, (void*)0);
  pthread_setname_np(heavy, "heavy");
  pthread_create(&light, NULL, take_turns, (void*)1);
  pthread_setname_np(light, "light");
  pthread_join(heavy, NULL);
  pthread_join(light, NULL);
  printf("%ld %ld\n", cpu_us[0], cpu_us[1]);
  return 0;
}
