// Handles SIGTRAP, works until stdin ends, and prints how often the handler ran. With an argument
// it has a seccomp filter that allows everything instead, and would die of one.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

static long work(long upto) {
  long sum = 0;
  for (volatile long i = 0; i < upto; ++i) sum += i;
  return sum;
}

static void* in_thread(void* nothing) {
  work(2000);
  return nothing;
}

static int start_others(void) {
  pthread_t thread;
  signal(SIGTRAP, count);
  if (pthread_create(&thread, NULL, in_thread, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  const pid_t child = fork();
  if (child == 0) {
    work(2000);
    _exit(traps != 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status | system("true");
}

int main(int argc, char** argv) {
  const int late = argc > 1 && strcmp(argv[1], "late") == 0;
  if (argc > 1 && !late) {
    if (confine() != 0) return 2;
  } else if (!late) {
    signal(SIGTRAP, count);
  }
  puts("ready");
  fflush(stdout);
  struct pollfd in = {.fd = 0, .events = POLLIN};
  while (poll(&in, 1, 0) == 0) work(100);
  if (late && start_others() != 0) puts("wrong");
  printf("%d traps\n", (int)traps);
  return 0;
}
