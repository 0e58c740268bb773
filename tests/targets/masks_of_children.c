// Two threads, of which one blocks all signals while it forks; both fork without pause until stdin
// ends. A child ends with 1 if its mask is not its creator's.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int ends;

static int blocks_trap(void) {
  char line[256];
  unsigned long blocked = 0;
  FILE* const file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "SigBlk: %lx", &blocked) == 1) break;
  }
  return (blocked >> (SIGTRAP - 1) & 1) != 0;
}

static void* fork_children(void* blocks) {
  long wrong = 0;
  sigset_t all, before;
  sigfillset(&all);
  while (!ends) {
    if (blocks != NULL) pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t child = fork();
    if (child == 0) {
      usleep(300);
      _exit(blocks_trap() != (blocks != NULL));
    }
    if (blocks != NULL) pthread_sigmask(SIG_SETMASK, &before, NULL);
    int status = 0;
    if (child > 0 && waitpid(child, &status, 0) == child) wrong += status != 0;
  }
  return (void*)wrong;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, fork_children, &other);
  pthread_t one;
  pthread_create(&one, NULL, fork_children, NULL);
  puts("ready");
  fflush(stdout);
  char byte = 0;
  while (read(0, &byte, 1) == 1) {
  }
  ends = 1;
  void* wrong = NULL;
  void* more = NULL;
  pthread_join(other, &wrong);
  pthread_join(one, &more);
  printf("%ld wrong\n", (long)wrong + (long)more);
  return wrong == NULL && more == NULL ? 0 : 1;
}
