// descend() calls itself 20 deep and computes at the bottom; all time is below it. Argument:
// rounds.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t sink;

__attribute__((noinline)) uint64_t at_bottom(void) {
  uint64_t x = sink;
  for (int i = 0; i < 1000000; ++i) {
    x = x * 6364136223846793005ULL + 1;
    __asm__ volatile("" : "+r"(x));
  }
  return x;
}

__attribute__((noinline)) uint64_t descend(int depth) {
  uint64_t x = depth == 0 ? at_bottom() : descend(depth - 1);
  __asm__ volatile("" : "+r"(x));
  return x + 1;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 500;
  for (int i = 0; i < rounds; ++i) sink = descend(20);
  puts("done");
  return 0;
}
