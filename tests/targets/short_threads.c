// N threads (default 3000), each alive for microseconds, a few at a time.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void* live_shortly(void* counter) {
  __atomic_fetch_add((int*)counter, 1, __ATOMIC_RELAXED);
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 3000;
  int counter = 0;
  for (int i = 0; i < threads; i += 4) {
    pthread_t ids[4];
    for (int k = 0; k < 4; ++k) {
      if (pthread_create(&ids[k], NULL, live_shortly, &counter) != 0) return 2;
    }
    for (int k = 0; k < 4; ++k) pthread_join(ids[k], NULL);
  }
  printf("%d\n", counter);
  return 0;
}
