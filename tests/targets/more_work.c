// Does the same work each time, but in grows(), of which it does so many percent. Arguments: these,
// a multiple of ten, and how many rounds. In each round grows() is called once for each ten
// percent, for ten turns each, and then stays() for two hundred turns.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "spin.h"

SPIN(grows)
SPIN(stays)

int main(int argc, char** argv) {
  const uint64_t percent = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
  const uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
  for (uint64_t i = 0; i < rounds; ++i) {
    for (uint64_t j = 0; j < percent / 10; ++j) {
      grows(10);
    }
    stays(200);
  }
  puts("done");
  return 0;
}
