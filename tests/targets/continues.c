// Handlers of SIGCONT. "itself": a child stops itself so often and its parent lets it go on each
// time. "running": a parent sends SIGCONT to a child that runs, and waits for its handler each
// time. Prints how often the handler ran, and how often the child stopped. Arguments: WAY COUNT.
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static int answers[2];

static void count(int number) {
  (void)number;
  ++handled;
  (void)!write(answers[1], "c", 1);
}

static void work(int upto) {
  for (volatile int i = 0; i < upto; ++i) {
  }
}

static void stop_itself(int times) {
  for (int i = 0; i < times; ++i) {
    work(20000);
    raise(SIGSTOP);
  }
}

static int send(pid_t child, int times) {
  char byte;
  for (int i = 0; i < times; ++i) {
    kill(child, SIGCONT);
    struct pollfd one = {.fd = answers[0], .events = POLLIN};
    if (poll(&one, 1, 5000) != 1 || read(answers[0], &byte, 1) != 1) return i;
  }
  return times;
}

int main(int argc, char** argv) {
  const int times = argc > 2 ? atoi(argv[2]) : 100;
  const int runs = argc > 1 && strcmp(argv[1], "running") == 0;
  signal(SIGCONT, count);
  if (pipe(answers) != 0) return 2;
  const pid_t child = fork();
  if (child == 0) {
    while (runs) work(1000);
    stop_itself(times);
    _exit(handled == times ? 0 : 1);
  }
  int status = 0;
  int stops = 0;
  if (runs) {
    work(100000000);
    const int answered = send(child, times);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    printf("%d answered\n", answered);
    return answered != times;
  }
  while (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)) {
    ++stops;
    kill(child, SIGCONT);
  }
  printf("%d stopped, %s\n", stops, status == 0 ? "all handled" : "some not handled");
  return status != 0;
}
