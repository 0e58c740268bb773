// Threads, one for each kind of loop, turn in it without ever calling anything until stdin ends;
// then their sums are checked. Says "fast" when each has turned so often that no breakpoint can be
// in its loop. With an argument, so many children do the same; each says when it is there.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kKinds = 5, kFast = 20000000 };
static volatile int* over;  // shared with the children
static volatile uint64_t turns[kKinds];

// A function adds 1, 2, 3, ... and says how far it came.
typedef uint64_t loop(volatile uint64_t* turn);

__attribute__((noinline)) static uint64_t one_block(volatile uint64_t* turn) {
  uint64_t sum = 0;
  uint64_t i = 0;
  do {
    sum += ++i;
    *turn = i;
  } while (!*over);
  return sum;
}

__attribute__((noinline)) static uint64_t nested(volatile uint64_t* turn) {
  uint64_t sum = 0;
  uint64_t i = 0;
  while (!*over) {
    for (int inner = 0; inner < 1000; ++inner) {
      if ((i & 7) == 3) *turn = i;
      sum += ++i;
      __asm__ volatile("" : "+r"(sum), "+r"(inner));
    }
    *turn = i;
  }
  return sum;
}

#if defined(__x86_64__)
#define USED "rdx", "rcx", "cc", "memory"
// The head reads flags of the turn before, so that its counter may not change them.
#define FLAGS_ACROSS                                        \
  "1: setz %%dl\n jz 2f\n 2: inc %[i]\n add %[i], %[sum]\n" \
  "mov %[i], (%[turn])\n cmpl $0, (%[over])\n je 1b\n"
#define ENTERED_IN_THE_MIDDLE                                          \
  "jmp 2f\n 1: add %[i], %[sum]\n 2: inc %[i]\n mov %[i], (%[turn])\n" \
  "cmpl $0, (%[over])\n je 1b\n add %[i], %[sum]\n"
#define COUNTED_BY_LOOP                                             \
  "1: mov $100, %%ecx\n 2: inc %[i]\n add %[i], %[sum]\n loop 2b\n" \
  "mov %[i], (%[turn])\n cmpl $0, (%[over])\n je 1b\n"
#else
#define USED "x2", "x3", "cc", "memory"
#define FLAGS_ACROSS                                                     \
  "cmp xzr, xzr\n 1: cset w2, eq\n b.eq 2f\n 2: add %[i], %[i], #1\n"    \
  "add %[sum], %[sum], %[i]\n str %[i], [%[turn]]\n ldr w2, [%[over]]\n" \
  "cmp w2, #0\n b.eq 1b\n"
#define ENTERED_IN_THE_MIDDLE                                    \
  "b 2f\n 1: add %[sum], %[sum], %[i]\n 2: add %[i], %[i], #1\n" \
  "str %[i], [%[turn]]\n ldr w2, [%[over]]\n cbz w2, 1b\n add %[sum], %[sum], %[i]\n"
#define COUNTED_BY_LOOP                                                  \
  "1: mov w3, #100\n 2: add %[i], %[i], #1\n add %[sum], %[sum], %[i]\n" \
  "sub w3, w3, #1\n cbnz w3, 2b\n str %[i], [%[turn]]\n ldr w2, [%[over]]\n cbz w2, 1b\n"
#endif

#define LOOP(name, code)                                                    \
  __attribute__((noinline)) static uint64_t name(volatile uint64_t* turn) { \
    uint64_t sum = 0;                                                       \
    uint64_t i = 0;                                                         \
    __asm__ volatile(code                                                   \
                     : [sum] "+&r"(sum), [i] "+&r"(i)                       \
                     : [turn] "r"(turn), [over] "r"(over)                   \
                     : USED);                                               \
    return sum;                                                             \
  }
LOOP(flags_across, FLAGS_ACROSS)
LOOP(entered_in_the_middle, ENTERED_IN_THE_MIDDLE)
LOOP(counted_by_loop, COUNTED_BY_LOOP)

static loop* const loops[kKinds] = {one_block, nested, flags_across, entered_in_the_middle,
                                    counted_by_loop};

static void* work(void* kind) {
  volatile uint64_t* const turn = &turns[(intptr_t)kind];
  const uint64_t sum = loops[(intptr_t)kind](turn);
  const uint64_t last = *turn;
  return (void*)(intptr_t)(sum == last * (last + 1) / 2);
}

/// Returns whether all sums are right.
static int run(const char* fast) {
  pthread_t ids[kKinds];
  for (intptr_t i = 0; i < kKinds; ++i) pthread_create(&ids[i], NULL, work, (void*)i);
  for (int i = 0; i < kKinds; ++i) {
    while (turns[i] < kFast && !*over) usleep(1000);
  }
  if (write(1, fast, strlen(fast)) < 0) return 0;
  int right = 1;
  for (int i = 0; i < kKinds; ++i) {
    void* is_right = NULL;
    pthread_join(ids[i], &is_right);
    right = right && is_right != NULL;
  }
  return right;
}

static void* end_with_stdin(void* none) {
  char byte;
  while (read(0, &byte, 1) > 0) {
  }
  *over = 1;
  return none;
}

int main(int argc, char** argv) {
  over = mmap(NULL, sizeof *over, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const int children = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; i < children; ++i) {
    char said[32];
    snprintf(said, sizeof said, "child %d\n", i);
    if (fork() == 0) return run(said) ? 0 : 1;
  }
  pthread_t id;
  pthread_create(&id, NULL, end_with_stdin, NULL);
  int right = run("fast\n");
  for (int i = 0; i < children; ++i) {
    int status = -1;
    right = wait(&status) > 0 && status == 0 && right;
  }
  puts(right ? "right" : "WRONG");
  return right ? 0 : 1;
}
