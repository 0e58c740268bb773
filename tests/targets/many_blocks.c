// N threads (default 1) each go M times (default 10) through 4,096 conditional branches, which
// makes some 6,000 blocks, all hot. Prints a checksum that does not depend on how the threads took
// turns.
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK(n)                        \
  if (((x >> ((n) % 61)) & 1) != 0) {   \
    x = x * 6364136223846793005u + (n); \
    __asm__ volatile("" : "+r"(x));     \
  }
#define BLOCKS_8(n) \
  BLOCK(n)          \
  BLOCK(n + 1) BLOCK(n + 2) BLOCK(n + 3) BLOCK(n + 4) BLOCK(n + 5) BLOCK(n + 6) BLOCK(n + 7)
#define BLOCKS_64(n) \
  BLOCKS_8(n)        \
  BLOCKS_8(n + 8)    \
  BLOCKS_8(n + 16)   \
  BLOCKS_8(n + 24) BLOCKS_8(n + 32) BLOCKS_8(n + 40) BLOCKS_8(n + 48) BLOCKS_8(n + 56)
#define BLOCKS_512(n) \
  BLOCKS_64(n)        \
  BLOCKS_64(n + 64)   \
  BLOCKS_64(n + 128)  \
  BLOCKS_64(n + 192) BLOCKS_64(n + 256) BLOCKS_64(n + 320) BLOCKS_64(n + 384) BLOCKS_64(n + 448)

__attribute__((noinline, noclone)) uint64_t all_blocks(uint64_t x) {
  BLOCKS_512(0)
  BLOCKS_512(512)
  BLOCKS_512(1024)
  BLOCKS_512(1536)
  BLOCKS_512(2048)
  BLOCKS_512(2560)
  BLOCKS_512(3072)
  BLOCKS_512(3584)
  return x;
}

static int rounds = 10;

static void* work(void* start) {
  uint64_t x = *(uint64_t*)start;
  for (int i = 0; i < rounds; ++i) x = all_blocks(x);
  *(uint64_t*)start = x;
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  if (argc > 2) rounds = atoi(argv[2]);
  pthread_t ids[64];
  uint64_t values[64];
  for (int i = 0; i < threads; ++i) {
    values[i] = (uint64_t)i * 0x9E3779B97F4A7C15u + 1;
    pthread_create(&ids[i], NULL, work, &values[i]);
  }
  uint64_t sum = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(ids[i], NULL);
    sum ^= values[i];
  }
  printf("%016" PRIx64 "\n", sum);
  return 0;
}
