// Functions and blocks whose counts are known beforehand. Argument: rounds. With N rounds
// each_round() is called N times, in_a_triangle() N(N-1)/2 times, fib() 177 times, tail() N times
// by a jump and handler() twice by a signal.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define NOT_INLINED __attribute__((noinline, noclone))

static volatile sig_atomic_t handled;

NOT_INLINED void handler(int number) { handled += number == SIGUSR1; }

NOT_INLINED long tail(long x) {
  __asm__ volatile("" : "+r"(x));
  return x ^ 1;
}

NOT_INLINED long each_round(long x) {
  __asm__ volatile("" : "+r"(x));
  return tail(x + 1);
}

NOT_INLINED long in_a_triangle(long x) {
  __asm__ volatile("" : "+r"(x));
  return x * 3;
}

NOT_INLINED long fib(long n) {
  if (n < 2) return n;
  long sum = fib(n - 1);
  __asm__ volatile("" : "+r"(sum));  // keeps both calls
  long other = fib(n - 2);
  __asm__ volatile("" : "+r"(other));
  return sum + other;
}

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? atol(argv[1]) : 10;
  long sum = 0;
  for (long i = 0; i < rounds; ++i) {
    sum += each_round(i);
    for (long j = 0; j < i; ++j) {
      sum += in_a_triangle(j);
    }
  }
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  raise(SIGUSR1);
  printf("%ld %ld %d\n", sum, fib(10), (int)handled);
  return 0;
}
