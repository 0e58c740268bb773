// Has its own system calls sent to it as SIGSYS (prctl(2), PR_SET_SYSCALL_USER_DISPATCH), and
// enters functions for the first time meanwhile. Prints "right" if each call came once, and nothing
// else.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

enum { kAllow = 0, kBlock = 1, kRounds = 160 };

static volatile char selector = kAllow;
static volatile int seen;
static volatile long sum;

static void on_call(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)context;
  selector = kAllow;
  seen += info->si_syscall == SYS_getppid ? 1 : 1000;
}

#define WORK(n)                                                     \
  __attribute__((noinline)) static long work_##n(long turns) {      \
    long result = n;                                                \
    for (long i = 0; i < turns; ++i) result += i % 3 ? i : -result; \
    return result;                                                  \
  }
WORK(0)
WORK(1)
WORK(2)
WORK(3)
WORK(4)
WORK(5)
WORK(6)
WORK(7)

static long (*volatile works[])(long) = {work_0, work_1, work_2, work_3,
                                         work_4, work_5, work_6, work_7};

int main(void) {
  const struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO};
  sigaction(SIGSYS, &action, NULL);
  const int is_on = prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector) == 0;
  const struct timespec pause = {0, 1000000};
  for (int round = 0; round < kRounds && is_on; ++round) {
    selector = kBlock;
    sum += works[round * 8 / kRounds](300);
    syscall(SYS_getppid);
    nanosleep(&pause, NULL);
  }
  puts(!is_on || seen == kRounds ? "right" : "wrong");
  return 0;
}
