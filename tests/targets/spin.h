#pragma once
// SPIN(NAME) defines a function that keeps a CPU busy for so many turns and calls nothing.
#include <stdint.h>

static volatile uint64_t sink;

#define SPIN(name)                                             \
  __attribute__((noinline)) void name(uint64_t turns) {        \
    uint64_t x = sink | 1;                                     \
    for (uint64_t i = 0; i < turns; ++i) {                     \
      x = x * 6364136223846793005ULL + 1442695040888963407ULL; \
      __asm__ volatile("" : "+r"(x));                          \
    }                                                          \
    sink = x;                                                  \
  }
