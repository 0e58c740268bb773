// Three functions take 60, 30 and 10 percent of the CPU time. Arguments: rounds, and a tenth of how
// often a round goes through their loops.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t sink;

#define SPIN(name)                                             \
  __attribute__((noinline)) void name(uint64_t rounds) {       \
    uint64_t x = sink | 1;                                     \
    for (uint64_t i = 0; i < rounds; ++i) {                    \
      x = x * 6364136223846793005ULL + 1442695040888963407ULL; \
      __asm__ volatile("" : "+r"(x));                          \
    }                                                          \
    sink = x;                                                  \
  }

SPIN(spin_sixty)
SPIN(spin_thirty)
SPIN(spin_ten)

int main(int argc, char** argv) {
  const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
  const uint64_t tenth = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
  for (uint64_t i = 0; i < rounds; ++i) {
    spin_sixty(6 * tenth);
    spin_thirty(3 * tenth);
    spin_ten(tenth);
  }
  puts("done");
  return 0;
}
