// What a profiler may be killed in the middle of: frames that begin with a push, two threads,
// forks, and a handler that blocks all signals. Argument: how often (20). Prints one line, which
// says "right".
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long g_handled;
static int g_rounds = 20;

__attribute__((noinline, noipa)) static unsigned long twice(unsigned long n) { return n + n; }

/// 2 to the power of n.
__attribute__((noinline, noipa)) static unsigned long tree(unsigned long n) {
  return n == 0 ? 1 : tree(n - 1) + twice(n) - twice(n) + tree(n - 1);
}

static void on_alarm(int signal) {
  (void)signal;
  g_handled += tree(2);
}

static void* work(void* result) {
  // Once each time: where stops take long, a timer that goes on would leave time for the handler
  // alone.
  const struct itimerval soon = {{0, 0}, {0, 300}};
  unsigned long sum = 0;
  for (int i = 0; i < g_rounds; ++i) {
    setitimer(ITIMER_REAL, &soon, 0);
    sum += tree(6);
    usleep(500);
  }
  *(unsigned long*)result = sum;
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) g_rounds = atoi(argv[1]);
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigfillset(&action.sa_mask);
  sigaction(SIGALRM, &action, 0);
  pthread_t threads[2];
  unsigned long sums[2] = {0, 0};
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, work, &sums[i]);
  int children = 1 + g_rounds / 20, right = 0;
  for (int i = 0; i < children; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(tree(7) == 128 ? 7 : 1);
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
    }
    right += WIFEXITED(status) && WEXITSTATUS(status) == 7;
    usleep(5000);
  }
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  const unsigned long sum = 64UL * (unsigned long)g_rounds;
  const int is_right = right == children && sums[0] == sum && sums[1] == sum && g_handled % 4 == 0;
  printf("%s: %d of %d children, sums %lu and %lu, %lu\n", is_right ? "right" : "wrong", right,
         children, sums[0], sums[1], g_handled);
  return !is_right;
}
