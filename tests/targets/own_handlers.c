// Handles its own SIGSEGV, SIGILL, SIGFPE, SIGTRAP and queued real-time signals, and checks that
// every one arrives once, in order, with the siginfo that the kernel or sender gave it.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static sigjmp_buf again;
static volatile sig_atomic_t faults, bad, queued;
static void* page;

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)context;
  ++faults;
  if (number == SIGSEGV && (info->si_addr != page || info->si_code != SEGV_ACCERR)) ++bad;
  if (number == SIGTRAP && info->si_code != SI_TKILL && info->si_code != SI_KERNEL &&
      info->si_code != TRAP_BRKPT)
    ++bad;
  siglongjmp(again, 1);
}

static void on_queued(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  if (info->si_code != SI_QUEUE || info->si_value.sival_int != queued) ++bad;
  ++queued;
}

static void spin(int turns) {
  for (volatile int i = 0; i < turns; ++i) {
  }
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 200;
  const int turns = argc > 2 ? atoi(argv[2]) : 100000;
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGILL, &action, NULL);
  sigaction(SIGFPE, &action, NULL);
  sigaction(SIGTRAP, &action, NULL);
  action.sa_sigaction = on_queued;
  sigaction(SIGRTMIN + 3, &action, NULL);
  for (int i = 0; i < rounds; ++i) {
    spin(turns);
    if (sigsetjmp(again, 1) == 0) *(volatile char*)page = 1;
    if (sigsetjmp(again, 1) == 0) raise(SIGILL);
    if (sigsetjmp(again, 1) == 0) raise(SIGFPE);
    if (sigsetjmp(again, 1) == 0) raise(SIGTRAP);
    const union sigval value = {.sival_int = i};
    sigqueue(getpid(), SIGRTMIN + 3, value);
  }
  printf("%d faults %d queued %d bad\n", (int)faults, (int)queued, (int)bad);
  return faults == 4 * rounds && queued == rounds && bad == 0 ? 0 : 1;
}
