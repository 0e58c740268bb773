// Threads that work until they get a line on stdin; then each says what its gs base is (0 where the
// CPU has none), and the sum that it has computed is checked. tells_base THREADS
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int over;
static atomic_int wrong;

static unsigned long gs_base(void) {
  unsigned long base = 0;
#ifdef __x86_64__
  enum { ARCH_GET_GS = 0x1004 };
  if (syscall(SYS_arch_prctl, ARCH_GET_GS, &base) != 0) return 1;
#endif
  return base;
}

__attribute__((noinline, used)) static uint64_t mix(uint64_t value, uint64_t round) {
  return value * 6364136223846793005U + (round & 7U);
}

static void* work(void* unused) {
  (void)unused;
  uint64_t value = 1;
  uint64_t rounds = 0;
  for (; !atomic_load_explicit(&over, memory_order_relaxed); ++rounds) value = mix(value, rounds);
  uint64_t again = 1;
  for (uint64_t round = 0; round < rounds; ++round) {
    again = again * 6364136223846793005U + (round & 7U);
  }
  if (again != value) atomic_fetch_add(&wrong, 1);
  printf("base %lx\n", gs_base());
  return NULL;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 3;
  pthread_t threads[64];
  for (int i = 0; i < count; ++i) {
    if (pthread_create(&threads[i], NULL, work, NULL) != 0) return 3;
  }
  puts("ready");
  fflush(stdout);
  (void)getchar();
  atomic_store(&over, 1);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  puts(wrong == 0 ? "right" : "wrong");
  return 0;
}
