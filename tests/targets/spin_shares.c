// Three functions take 60, 30 and 10 percent of the CPU time. Arguments: rounds, and a tenth of how
// often a round goes through their loops.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "spin.h"

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
