// ROUNDS: in each, big() works for some 5 ms, and tiny() is called 2,000 times.
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned sink;

__attribute__((noinline, noipa)) void tiny(unsigned value) { sink += value; }

__attribute__((noinline, noipa)) void big(void) {
  for (unsigned i = 0; i < 8 * 1000 * 1000; ++i) {
    sink = sink * 3 + i;
  }
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  for (int round = 0; round < rounds; ++round) {
    big();
    for (unsigned i = 0; i < 2000; ++i) {
      tiny(i);
    }
  }
  printf("%d rounds\n", rounds);
  return 0;
}
