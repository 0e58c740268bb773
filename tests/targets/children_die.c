// Makes processes that end early, one after another: HOW is "exits" (at once), "parent" (killed by
// their parent), "fork" or "vfork" (a process that does nothing but that is killed, often in the
// call). ROUNDS rounds, or with 0 until stdin ends. Prints "ready", and how many came to another
// end.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int bad;

static void reap(pid_t child, int signal) {
  int status = 0;
  pid_t reaped;
  // Children of those that were killed come here, too.
  while ((reaped = waitpid(-1, &status, 0)) != child && reaped > 0) {
  }
  if (signal == 0 ? status != 0 : WTERMSIG(status) != signal) ++bad;
}

static void fork_without_end(void) {
  for (;;) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
  }
}

static void vfork_without_end(void) {
  for (;;) {
    const pid_t child = vfork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
  }
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "exits";
  const int rounds = argc > 2 ? atoi(argv[2]) : 1000;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK);
  printf("ready\n");
  fflush(stdout);
  char byte;
  unsigned random = 1;
  for (int i = 0; rounds > 0 ? i < rounds : read(0, &byte, 1) != 0; ++i) {
    const int exits = strcmp(how, "exits") == 0;
    const pid_t child = fork();
    if (child == 0) {
      if (exits) _exit(0);
      if (strcmp(how, "fork") == 0) fork_without_end();
      if (strcmp(how, "vfork") == 0) vfork_without_end();
      pause();
    }
    if (strcmp(how, "parent") != 0 && !exits) {
      random = random * 1103515245 + 12345;
      usleep(random >> 16 & 2047);
    }
    if (!exits) kill(child, SIGKILL);
    reap(child, exits ? 0 : SIGKILL);
  }
  while (waitpid(-1, NULL, 0) > 0) {
  }
  printf("%d bad\n", bad);
  return bad != 0;
}
