// Forbids itself to read the CPU's time stamp counter (prctl(2), PR_SET_TSC), and calls functions
// all the same. Prints "right" if its only SIGSEGVs are those of its own reads.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

enum { kRounds = 200, kCalls = 5000 };

static sigjmp_buf before_read;
static volatile int faults;
static volatile long sum;

static void on_fault(int signal) {
  (void)signal;
  ++faults;
  siglongjmp(before_read, 1);
}

__attribute__((noinline)) static long leaf(long value) { return value % 7 ? value + 1 : value; }

__attribute__((noinline)) static void read_ticks(void) {
#ifdef __x86_64__
  unsigned low;
  unsigned high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  sum += low;
#else
  raise(SIGSEGV);
#endif
}

int main(void) {
  signal(SIGSEGV, on_fault);
  for (volatile long i = 0; i < kCalls; ++i) sum += leaf(i);
#ifdef __x86_64__
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
#endif
  for (volatile int round = 0; round < kRounds; ++round) {
    if (sigsetjmp(before_read, 1) == 0) {
      read_ticks();
      puts("read");
    }
    for (volatile long i = 0; i < kCalls / kRounds; ++i) sum += leaf(i);
  }
  puts(faults == kRounds ? "right" : "wrong");
  return 0;
}
