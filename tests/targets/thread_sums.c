// N threads (default 8) each add up 1..M (default 20,000,000) in their own way; the sum is known.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t upto = 20000000;

static void* add(void* result) {
  uint64_t sum = 0;
  for (uint64_t i = 1; i <= upto; ++i) {
    sum += i;
    __asm__ volatile("" : "+r"(sum));
  }
  *(uint64_t*)result = sum;
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 8;
  if (argc > 2) upto = strtoull(argv[2], NULL, 10);
  pthread_t ids[256];
  uint64_t sums[256];
  for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, add, &sums[i]);
  uint64_t all = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(ids[i], NULL);
    all += sums[i];
  }
  const int right = all == (uint64_t)threads * (upto * (upto + 1) / 2);
  puts(right ? "right" : "WRONG");
  return right ? 0 : 1;
}
