// each_round() goes on at labels out of a table, and a pointer in the data, which nobody uses,
// leads into the middle of the instruction behind the one that is taken first in round 27,000 of
// 30,000.
#include <stdio.h>

const void* volatile unused;

__attribute__((noipa)) static long each_round(long round, long way) {
  static const void* const ways[] = {&&first, &&second, &&third};
  static const void* volatile in_the_middle = &&second + 2;
  unused = in_the_middle;
  goto* ways[way];
first:
  return round + 0x1111;
second:
  __asm__ volatile("" : "+r"(round) : : "memory");
  return round * 0x12345;
third:
  __asm__ volatile("" : "+r"(round) : : "memory");
  return round ^ 0x333333;
}

int main(void) {
  long sum = 0;
  for (long i = 0; i < 30000; ++i) sum += each_round(i, i < 27000 ? i % 2 * 2 : i % 3);
  printf("%ld\n", sum);
  return 0;
}
