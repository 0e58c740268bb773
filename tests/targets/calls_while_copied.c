// Threads make long system calls in functions of their own while the main thread comes to functions
// that are new: so that the first ones begin to run from copies in the middle of their calls. Until
// stdin ends. Prints what was short, and "right" if nothing was.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kBytes = 512 << 10, kRounds = 3 };
static unsigned char bytes[kBytes];
static volatile unsigned long sink;
static volatile int is_over, is_wrong;

// Not libc's: the call is in the function's own code.
static inline __attribute__((always_inline)) long call(long number, long a, long b, long c) {
#ifdef __x86_64__
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
#else
  register long x8 __asm__("x8") = number;
  register long result __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(result) : "r"(x8), "r"(x1), "r"(x2) : "memory");
#endif
  return result;
}

static __attribute__((noinline)) void check(long got) {
  if (got != kBytes) {
    is_wrong = 1;
    printf("%ld of %d\n", got, kBytes);
  }
}

#define CALLER(N)                                          \
  static __attribute__((noinline)) void caller_##N(void) { \
    for (int i = 0; i < kRounds; ++i) {                    \
      check(call(SYS_getrandom, (long)bytes, kBytes, 0));  \
    }                                                      \
  }
CALLER(0)
CALLER(1)
CALLER(2)
CALLER(3)
CALLER(4) static void (*const callers[])(void) = {caller_0, caller_1, caller_2, caller_3, caller_4};
enum { kCallers = sizeof callers / sizeof *callers };

static void* make_calls(void* caller) {
  while (!is_over) {
    (*(void (*const*)(void))caller)();
  }
  return NULL;
}

#define SIXTEEN(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(a) X(b) X(c) X(d) X(e) X(f)

// 256 others, which are hot from their first call on if everything is counted.
#define NEW(N, M)                                                   \
  static __attribute__((noinline)) void new_##N##M(unsigned much) { \
    for (unsigned i = 0; i < 3; ++i) {                              \
      sink += (much & 1) != 0 ? i * 3 : much;                       \
    }                                                               \
  }
#define ROW(N) \
  NEW(N, 0)    \
  NEW(N, 1)    \
  NEW(N, 2)    \
  NEW(N, 3)    \
  NEW(N, 4)    \
  NEW(N, 5)    \
  NEW(N, 6)    \
  NEW(N, 7) NEW(N, 8) NEW(N, 9) NEW(N, a) NEW(N, b) NEW(N, c) NEW(N, d) NEW(N, e) NEW(N, f)
SIXTEEN(ROW)
#define NAMES(N)                                                                                  \
  new_##N##0, new_##N##1, new_##N##2, new_##N##3, new_##N##4, new_##N##5, new_##N##6, new_##N##7, \
      new_##N##8, new_##N##9, new_##N##a, new_##N##b, new_##N##c, new_##N##d, new_##N##e,         \
      new_##N##f,
static void (*const others[])(unsigned) = {SIXTEEN(NAMES)};
enum { kOthers = sizeof others / sizeof *others };

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  pthread_t threads[kCallers];
  for (int i = 0; i < kCallers; ++i) {
    pthread_create(&threads[i], NULL, make_calls, (void*)&callers[i]);
  }
  puts("ready");
  struct pollfd input = {0, POLLIN, 0};
  for (unsigned i = 0; poll(&input, 1, 1) == 0; i += 3) {
    for (unsigned n = i; n < i + 3; ++n) {
      others[n % kOthers](n);
    }
  }
  is_over = 1;
  for (int i = 0; i < kCallers; ++i) {
    pthread_join(threads[i], NULL);
  }
  puts(is_wrong ? "wrong" : "right");
  return is_wrong;
}
