// Starts children by fork, vfork + exec, posix_spawn and clone, several times; each must end with
// the status that it was told to.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static int wrong;

static void expect(pid_t child, int status) {
  int got = 0;
  if (waitpid(child, &got, 0) != child || !WIFEXITED(got) || WEXITSTATUS(got) != status) ++wrong;
}

static int cloned(void* unused) {
  (void)unused;
  for (volatile int i = 0; i < 10000000; ++i) {
  }
  return 9;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 20;
  char* const command[] = {"/bin/sh", "-c", "exit 5", NULL};
  for (int i = 0; i < rounds; ++i) {
    pid_t child = fork();
    if (child == 0) {
      for (volatile int k = 0; k < 1000000; ++k) {
      }
      _exit(3);
    }
    expect(child, 3);
    child = vfork();
    if (child == 0) {
      execv(command[0], command);
      _exit(99);
    }
    expect(child, 5);
    if (posix_spawn(&child, command[0], NULL, NULL, command, environ) == 0) expect(child, 5);
    char* stack = malloc(65536);
    child = clone(cloned, stack + 65536, SIGCHLD, NULL);
    expect(child, 9);
    free(stack);
  }
  printf("%d wrong\n", wrong);
  return wrong;
}
