// jumped_to: functions to which a jump of five bytes is hard to place. last_of() is never called,
// only jumped to, 100,000 times; read_last() is called as often, by a pointer, and has four bytes.
#include <stdio.h>

__attribute__((noinline, noclone, noipa, optimize("omit-frame-pointer"))) static int read_last(
    const int* end) {
  return end[-1];
}

__attribute__((noinline, noclone, noipa)) static long last_of(long value, long count) {
  for (long i = 0; i < count; ++i) {
    __asm__ volatile("" : "+r"(value));
    value ^= i;
  }
  return value + 1;
}

__attribute__((noinline, noclone, noipa)) static long doubled(long value, long count) {
  return last_of(2 * value, count);
}

int main(void) {
  int (*volatile read)(const int*) = read_last;
  int values[2] = {1, 2};
  long sum = 0;
  for (int i = 0; i < 100000; ++i) {
    sum += doubled(i, 3) + read(values + 2);
  }
  printf("%ld\n", sum);
  return 0;
}
