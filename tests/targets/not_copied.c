// Two functions that cannot run from a copy, for an instruction each that is never executed, and
// one that can. Argument: how often each is called.
#include <stdio.h>
#include <stdlib.h>

#define NOT_INLINED __attribute__((noinline, noclone))

static volatile long never, sum;

NOT_INLINED void has_gs(long i) {
  sum += i;
#ifdef __x86_64__
  if (never) __asm__ volatile("mov %%gs:0, %%rax" : : : "rax", "memory");
#endif
}

NOT_INLINED void has_transaction(long i) {
  sum -= i;
#ifdef __x86_64__
  if (never) __asm__ volatile("xbegin 1f\n1:" : : : "rax", "memory");
#endif
}

NOT_INLINED void has_neither(long i) { sum += i; }

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? atol(argv[1]) : 1000;
  for (long i = 0; i < rounds; ++i) {
    has_gs(i);
    has_transaction(i);
    has_neither(1);
  }
  printf("%ld\n", sum);
  return 0;
}
