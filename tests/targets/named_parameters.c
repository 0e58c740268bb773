// Calls of functions with named parameters, of known values: 10 times each.
#include <stdint.h>
#include <stdio.h>

#define APART __attribute__((noinline, noclone))

enum level { kLow = 2, kHigh = 7 };
struct large {
  long words[4];
};

static volatile long sink;

APART int store(const char* path, uint32_t size, int8_t delta, enum level level, float share) {
  sink += path[0] + (long)size + delta + (long)level + (long)share;
  return (int)size;
}

// Its result's address comes first on x86-64.
APART struct large make(long seed) {
  const struct large made = {{seed, sink, seed, sink}};
  return made;
}

APART int other(int count, uint32_t size) {
  sink += count;
  return (int)size;
}

int main(void) {
  for (int i = 0; i < 10; ++i) {
    sink += store(i % 2 == 0 ? "/even" : "/odd", 4000000000U + (uint32_t)i % 2, (int8_t)-i,
                  i < 3 ? kLow : kHigh, 0.5F);
    const struct large made = make(4294967295L + i % 2);
    sink += made.words[0];
    sink += other(i, 1);
  }
  puts("done");
  return 0;
}
