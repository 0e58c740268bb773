// Executes itself N times (default 20), with N calls of in_link() in the first, N - 1 in the
// next...: N(N+1)/2 in all. Every third link is executed by a thread that is not the leader, every
// third by a vfork()ed child.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char* self;
static char number[16];

__attribute__((noinline, noclone)) void in_link(void) { __asm__ volatile(""); }

static void next(void) {
  execl(self, self, number, (char*)NULL);
  _exit(9);
}

static void* in_thread(void* unused) {
  next();
  return unused;
}

int main(int argc, char** argv) {
  const int left = argc > 1 ? atoi(argv[1]) : 20;
  self = argv[0];
  for (int i = 0; i < left; ++i) in_link();
  if (left == 0) {
    puts("done");
    return 3;
  }
  snprintf(number, sizeof number, "%d", left - 1);
  if (left % 3 == 1) {
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
  } else if (left % 3 == 2) {
    const pid_t child = vfork();
    if (child == 0) next();
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 8;
  }
  next();
}
