// Counts in restartable sequences (rseq(2)), again and again until one is not aborted: what meets a
// breakpoint is. Prints the sum of 4 threads, or "none" where there are no such sequences.
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

enum { kThreads = 4, kRounds = 500 };

#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>

static long counts[1024][8];

__attribute__((noinline)) static int count_one(struct rseq* area) {
  int done = 0;
  __asm__ volatile(
      ".pushsection __rseq_cs, \"aw\"\n"
      ".balign 32\n"
      "3: .long 0, 0\n"
      ".quad 1f, 2f - 1f, 4f\n"
      ".popsection\n"
      "lea 3b(%%rip), %%rax\n"
      "mov %%rax, 8(%[area])\n"
      "1: mov 4(%[area]), %%eax\n"
      "shl $6, %%rax\n"
      "add %[counts], %%rax\n"
      "mov (%%rax), %%rcx\n"
      "test %%rcx, %%rcx\n"
      "js 6f\n"
      "inc %%rcx\n"
      "6: mov %%rcx, (%%rax)\n"
      "2: mov $1, %[done]\n"
      "jmp 5f\n"
      ".byte 0x0f, 0xb9, 0x3d\n"
      ".long 0x53053053\n"
      "4: mov $0, %[done]\n"
      "5:\n"
      : [done] "=&r"(done)
      : [area] "r"(area), [counts] "r"(counts)
      : "rax", "rcx", "memory", "cc");
  return done;
}

static void* count(void* unused) {
  struct rseq* const area = (struct rseq*)((char*)__builtin_thread_pointer() + __rseq_offset);
  for (int i = 0; i < kRounds; ++i) {
    while (!count_one(area)) {
    }
  }
  return unused;
}

int main(void) {
  if (__rseq_size == 0) {
    puts("none");
    return 0;
  }
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, count, NULL);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  long sum = 0;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) sum += counts[i][0];
  printf("%ld\n", sum);
  return 0;
}
#else
int main(void) {
  puts("none");
  return 0;
}
#endif
