// each_round() is called N times (default 5,000). It jumps by a table of distances that no check
// bounds: its code does not show that the last tenth of the calls come to another place.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline, noclone)) long each_round(long round, long from) {
  static const int distances[] = {0, &&hidden - &&shown};
  const long which = round >= from;
  __asm__ volatile("" : : : "memory");
  goto*(&&shown + distances[which]);
shown:
  __asm__ volatile("" : "+r"(round));
  return round + 1;
hidden:
  __asm__ volatile("" : "+r"(round));
  return round * 3;
}

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? atol(argv[1]) : 5000;
  long sum = 0;
  for (long i = 0; i < rounds; ++i) sum += each_round(i, rounds - rounds / 10);
  printf("%ld\n", sum);
  return 0;
}
