// Does the same work each time, but in grows(). Arguments: how often grows() turns for each 100
// turns of stays(), and how many hundreds of turns there are. grows() is called once for each 100
// of its turns, stays() ten times in all.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t sink;

#define SPIN(name)                                             \
  __attribute__((noinline)) void name(uint64_t turns) {        \
    uint64_t x = sink | 1;                                     \
    for (uint64_t i = 0; i < turns; ++i) {                     \
      x = x * 6364136223846793005ULL + 1442695040888963407ULL; \
      __asm__ volatile("" : "+r"(x));                          \
    }                                                          \
    sink = x;                                                  \
  }

SPIN(grows)
SPIN(stays)

int main(int argc, char** argv) {
  const uint64_t percent = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
  const uint64_t hundreds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
  for (uint64_t turns = percent * hundreds; turns > 0; turns -= turns < 100 ? turns : 100) {
    grows(turns < 100 ? turns : 100);
  }
  for (int i = 0; i < 10; ++i) {
    stays(10 * hundreds);
  }
  puts("done");
  return 0;
}
