// Forks without exec: every process of DEPTH generations (default 10) forks two, so that there are
// 2^DEPTH - 1 in all, and with "wait" all of them are alive at once. Each calls in_each() three
// times. Prints how many there were and how many came to a bad end.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_INLINED __attribute__((noinline, noclone))

static struct Shared { int there, bad; } * shared;
static int all;
static int waits;
static int go[2];

NOT_INLINED void in_each(void) { __asm__ volatile(""); }

NOT_INLINED void one(void) {
  for (int i = 0; i < 3; ++i) in_each();
  // Who is the last one lets all others go: by closing the pipe that they read from.
  const int number = __atomic_add_fetch(&shared->there, 1, __ATOMIC_SEQ_CST);
  if (!waits) return;
  if (number == all) {
    for (int i = 1; i < all; ++i)
      if (write(go[1], "", 1) != 1) _exit(9);
    return;
  }
  char byte;
  if (read(go[0], &byte, 1) != 1) _exit(9);
}

NOT_INLINED void tree(int depth) {
  pid_t children[2] = {0, 0};
  for (int i = 0; depth > 1 && i < 2; ++i) {
    children[i] = fork();
    if (children[i] == 0) {
      tree(depth - 1);
      _exit(7);
    }
    if (children[i] < 0) __atomic_add_fetch(&shared->bad, 1, __ATOMIC_SEQ_CST);
  }
  one();
  for (int i = 0; i < 2; ++i) {
    int status = 0;
    if (children[i] <= 0) continue;
    const pid_t waited = waitpid(children[i], &status, 0);
    if (waited == children[i] && WIFEXITED(status) && WEXITSTATUS(status) == 7) continue;
    fprintf(stderr, "waiting for %d: %d (%s), status %x\n", children[i], waited,
            waited < 0 ? strerror(errno) : "", (unsigned)status);
    __atomic_add_fetch(&shared->bad, 1, __ATOMIC_SEQ_CST);
  }
}

int main(int argc, char** argv) {
  const int depth = argc > 1 ? atoi(argv[1]) : 10;
  waits = argc > 2 && strcmp(argv[2], "wait") == 0;
  all = (1 << depth) - 1;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (pipe(go) != 0) return 2;
  tree(depth);
  printf("%d processes, %d bad\n", shared->there, shared->bad);
  return shared->bad;
}
