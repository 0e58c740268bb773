// Reads its flags with pushf and writes them back with popf, as CPU detection code does. Prints
// "right" where the trap flag is not among them.
#include <stdint.h>
#include <stdio.h>

int main(void) {
#ifdef __x86_64__
  for (int i = 0; i < 100; ++i) {
    uint64_t flags = 0;
    __asm__ volatile("pushf\n\tpop %0\n\tpush %0\n\tpopf" : "=r"(flags) : : "cc", "memory");
    if ((flags & 0x100) != 0) {
      puts("wrong");
      return 1;
    }
  }
#endif
  puts("right");
  return 0;
}
