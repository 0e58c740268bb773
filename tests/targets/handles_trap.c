// Handles SIGTRAP, works until stdin ends, and prints how often the handler ran. With an argument
// it has a seccomp filter that allows everything instead, and would die of one.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

static volatile sig_atomic_t traps;

static void count(int number) {
  (void)number;
  ++traps;
}

static int confine(void) {
  struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog all = {1, &allow};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) | prctl(PR_SET_SECCOMP, 2, &all);
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) {
    if (confine() != 0) return 2;
  } else {
    signal(SIGTRAP, count);
  }
  puts("ready");
  fflush(stdout);
  struct pollfd in = {.fd = 0, .events = POLLIN};
  while (poll(&in, 1, 0) == 0) {
    for (volatile int i = 0; i < 10000; ++i) {
    }
  }
  printf("%d traps\n", (int)traps);
  return 0;
}
