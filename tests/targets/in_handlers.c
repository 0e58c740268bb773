// Threads are in handlers that interrupted them anywhere in work(), and in these in others, on
// alternate stacks; says "ready" then. After a line of input the main thread does the same work for
// more than a second, and lets the handlers return then. Says "back" when all threads work again;
// at the end of the input the work is checked.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kThreads = 24, kAround = 32, kTurns = 2 };
static volatile int free_to_go;
static volatile int over;
static volatile int in_handler;
static volatile uint64_t turns[kThreads];

static void interrupt_again(int signal) {
  (void)signal;
  raise(SIGUSR2);
}

static void wait_in_handler(int signal) {
  (void)signal;
  const struct timespec moment = {0, 10000000};
  __atomic_fetch_add(&in_handler, 1, __ATOMIC_RELAXED);
  while (!free_to_go) nanosleep(&moment, NULL);
}

struct wide {
  uint64_t low;
  uint64_t high;
};
__attribute__((noipa)) static struct wide mix(uint64_t x) {
  return (struct wide){x * 5 + (1ULL << 60), 0};
}

static uint64_t divide(struct wide x, uint64_t by) {
#if defined(__x86_64__)
  __asm__ volatile("div %2" : "+a"(x.low), "+d"(x.high) : "r"(by));
  return x.low;
#else
  return x.low / by;
#endif
}

// Control comes back to a short instruction that takes long, so that signals come behind it.
__attribute__((noipa)) static uint64_t work(uint64_t seed) {
  uint64_t x = seed;
  for (uint64_t by = 3; by < kAround; ++by) {
    x = divide(mix(x), by);
    x = divide(mix(x ^ by), by);
    x = divide(mix(x), by);
  }
  return x;
}

static int is_right(uint64_t x) {
  static uint64_t right;
  if (right == 0) right = work(12345);
  return x == right;
}

static void* turn(void* number) {
  char* const memory = malloc(1 << 16);
  stack_t stack = {.ss_sp = memory, .ss_size = 1 << 16};
  sigaltstack(&stack, NULL);
  int right = 1;
  while (!over) {
    right = is_right(work(12345)) && right;
    ++turns[(intptr_t)number];
  }
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, NULL);
  free(memory);
  return (void*)(intptr_t)right;
}

int main(void) {
  const struct sigaction first = {.sa_handler = interrupt_again};
  const struct sigaction second = {.sa_handler = wait_in_handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &first, NULL);
  sigaction(SIGUSR2, &second, NULL);
  pthread_t ids[kThreads];
  (void)is_right(0);
  for (intptr_t i = 0; i < kThreads; ++i) pthread_create(&ids[i], NULL, turn, (void*)i);
  for (int i = 0; i < kThreads; ++i) {
    while (turns[i] == 0) usleep(100);
    pthread_kill(ids[i], SIGUSR1);
  }
  while (in_handler < kThreads) usleep(1000);
  puts("ready");
  fflush(stdout);
  char byte;
  int right = read(0, &byte, 1) == 1;
  const time_t begin = time(NULL);
  while (time(NULL) < begin + 2) right = is_right(work(12345)) && right;
  uint64_t before[kThreads];
  for (int i = 0; i < kThreads; ++i) before[i] = turns[i];
  free_to_go = 1;
  for (int i = 0; i < kThreads; ++i) {
    while (turns[i] < before[i] + kTurns) usleep(1000);
  }
  puts("back");
  fflush(stdout);
  while (read(0, &byte, 1) > 0) {
  }
  over = 1;
  for (int i = 0; i < kThreads; ++i) {
    void* was_right = NULL;
    pthread_join(ids[i], &was_right);
    right = right && was_right != NULL;
  }
  puts(right ? "right" : "WRONG");
  return right ? 0 : 1;
}
