// N threads (default 8) each call count_one() M times (default 1,000) in a loop, count_pair() every
// second time, and take a lock, all at once: N * M and N * M / 2 calls.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NOT_INLINED __attribute__((noinline, noclone))

static long rounds = 1000;
static pthread_barrier_t start;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long ones, pairs;

NOT_INLINED void count_one(void) { __atomic_add_fetch(&ones, 1, __ATOMIC_RELAXED); }

NOT_INLINED void count_pair(void) {
  pthread_mutex_lock(&lock);
  ++pairs;
  pthread_mutex_unlock(&lock);
}

NOT_INLINED void* work(void* unused) {
  pthread_barrier_wait(&start);
  for (long i = 0; i < rounds; ++i) {
    count_one();
    if (i % 2 == 0) count_pair();
  }
  return unused;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 8;
  if (argc > 2) rounds = atol(argv[2]);
  pthread_t ids[1024];
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, work, NULL);
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  printf("%ld %ld\n", ones, pairs);
  return 0;
}
