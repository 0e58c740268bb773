// A function returns a comparison in the flags, as LLVM's machine outliner has it, and another one
// goes on in it. Prints how often a value was less and how often greater, by the one and the other.
#include <stdio.h>

static volatile long limit = 100;

enum { kRounds = 4000 };

#ifdef __x86_64__
__asm__(
    ".text\n"
    ".type compares, @function\n"
    "compares:\n"
    "  cmp %rsi, %rdi\n"
    "  jo 2f\n"
    "  js 3f\n"
    "  lea 1(%rax), %rax\n"
    "  ret\n"
    "2: lea 2(%rax), %rax\n"
    "  ret\n"
    "3: lea 3(%rax), %rax\n"
    "  ret\n"
    ".size compares, . - compares\n"
    ".type goes_on, @function\n"
    "goes_on:\n"
    "  test %rdx, %rdx\n"
    "  jz 1f\n"
    "  add $1, %rdx\n"
    "1: jmp compares\n"
    ".size goes_on, . - goes_on\n");

#define COMPARE(name, function)                                                       \
  __attribute__((noinline)) static void name(long value, long* less, long* greater) { \
    long is_less = 0;                                                                 \
    long is_greater = 0;                                                              \
    __asm__ volatile(                                                                 \
        "sub $128, %%rsp\n"                                                           \
        "call " #function                                                             \
        "\n"                                                                          \
        "mov $0, %%ecx\n"                                                             \
        "mov $0, %%ebx\n"                                                             \
        "setl %%cl\n"                                                                 \
        "setg %%bl\n"                                                                 \
        "lea 128(%%rsp), %%rsp\n"                                                     \
        : "=c"(is_less), "=b"(is_greater)                                             \
        : "D"(value), "S"(limit)                                                      \
        : "rax", "rdx", "memory", "cc");                                              \
    *less += is_less;                                                                 \
    *greater += is_greater;                                                           \
  }
#else
#define COMPARE(name, function)                                                       \
  __attribute__((noinline)) static void name(long value, long* less, long* greater) { \
    *less += value < limit;                                                           \
    *greater += value > limit;                                                        \
  }
#endif

COMPARE(by_one, compares)
COMPARE(by_two, goes_on)

int main(void) {
  long counts[4] = {0};
  for (long i = 0; i < kRounds; ++i) {
    by_one(i % 200 - 20, &counts[0], &counts[1]);
    by_two(i % 200 - 20, &counts[2], &counts[3]);
  }
  printf("%ld %ld %ld %ld\n", counts[0], counts[1], counts[2], counts[3]);
  return 0;
}
