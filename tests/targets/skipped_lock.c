// skipped_lock N: N times code whose lock prefix a branch skips but for every tenth time, as libc's
// does while there is one thread. Prints how often it was executed.
#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__)
void add_one(int* sum, int locked);
__asm__(
    ".text\n .balign 16\n .globl add_one\n .type add_one, @function\n"
    "add_one:\n"
    "  test %esi, %esi\n"
    "  je .Lskipped\n"
    "  .byte 0xf0\n"  // lock
    ".Lskipped:\n"
    "  incl (%rdi)\n"
    "  ret\n"
    "  .size add_one, . - add_one\n");
#else
static void add_one(int* sum, int locked) {
  (void)locked;
  ++*sum;
}
#endif

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1000;
  int sum = 0;
  for (int i = 0; i < rounds; ++i) add_one(&sum, i % 10 == 0);
  printf("%d\n", sum);
  return 0;
}
