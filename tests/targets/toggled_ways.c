// part() calls work() from a child process, from N threads (default 4), twice within itself, and
// once before it is left by longjmp; work() is called outside of it as well, and other() only
// there. Prints how often work() was called from part().
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLED __attribute__((noinline, noipa, used))

static jmp_buf back;

CALLED int work(int value) { return 2 * value + 1; }
CALLED int other(int value) { return 3 * value; }

CALLED int part(int rounds, int leaves) {
  int sum = 0;
  for (int i = 0; i < rounds; ++i) sum += work(i);
  if (rounds == 2) sum += part(1, 0);
  if (leaves) longjmp(back, 1);
  return sum;
}

CALLED void* thread(void* number) {
  const int rounds = (int)(long)number;
  for (int i = 0; i < 10; ++i) {
    if (part(rounds, 0) < 0 || other(i) < 0 || work(i) < 0) abort();
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 4;
  int inside = 0;
  const pid_t child = fork();
  if (child == 0) {
    const int sum = part(5, 0) + other(1) + work(1);
    _exit(sum > 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) return 1;
  inside += 5;

  pthread_t ids[16];
  for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, thread, (void*)3L);
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  inside += threads * 10 * 3;

  if (part(2, 0) < 0) return 1;
  inside += 2 + 1;
  for (volatile int round = 0; round < 7; ++round) {
    if (setjmp(back) == 0) part(1, 1);
    if (other(round) < 0 || work(round) < 0) return 1;
  }
  inside += 7;
  printf("%d\n", inside);
  return 0;
}
