// usage: indirect_ways TURNS [SIGNALS]. Calls four small functions by pointers, from a loop, from
// tail calls in the cases of a switch, and from a handler of signals that come each SIGNALS
// microseconds. Says the result.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static int (*volatile functions[4])(int);
static volatile int handled;

__attribute__((noinline)) static int add(int x) { return x + 1; }
__attribute__((noinline)) static int treble(int x) { return x * 3; }
__attribute__((noinline)) static int flip(int x) { return x ^ 5; }
__attribute__((noinline)) static int take(int x) { return x - 7; }

__attribute__((noinline)) static int choose(int x) {
  switch (x & 7) {
    case 0:
      return 4;
    case 1:
      return functions[0](x);
    case 2:
      return functions[3](x);
    case 3:
      return 77;
    case 4:
      return x * 2;
    case 5:
      return functions[2](x);
    case 6:
      return -x;
    default:
      return 0;
  }
}

static void on_signal(int signal) {
  (void)signal;
  if (functions[handled & 3](1) != 1000) {
    ++handled;
  }
}

static void set_timer(int microseconds) {
  const struct itimerval timer = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

int main(int argc, char** argv) {
  const long turns = argc > 1 ? atol(argv[1]) : 1000;
  functions[0] = add;
  functions[1] = treble;
  functions[2] = flip;
  functions[3] = take;
  signal(SIGALRM, on_signal);
  set_timer(argc > 2 ? atoi(argv[2]) : 0);
  long sum = 0;
  for (long i = 0; i < turns; ++i) {
    sum += functions[i & 3]((int)i);
    sum += choose((int)i);
  }
  set_timer(0);
  printf("%ld\n", sum);
  return 0;
}
