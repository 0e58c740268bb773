// count_down() begins with its loop: 40 calls of one turn each, then one of 1,000.
#include <stdio.h>

__attribute__((noinline, noclone)) static void count_down(volatile int* left) {
  do {
    --*left;
  } while (*left > 0);
}

int main(void) {
  volatile int left = 0;
  for (int i = 0; i < 40; ++i) {
    left = 1;
    count_down(&left);
  }
  left = 1000;
  count_down(&left);
  puts("done");
  return 0;
}
