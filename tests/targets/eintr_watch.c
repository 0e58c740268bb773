// Four threads alternate short work with short blocking calls that return EINTR whenever a stop
// wakes them (signal(7)); no handler is installed, so without a tracer none ever does. With "-c"
// child processes come and go, whose SIGCHLD is ignored by default. Prints how often EINTR was
// seen. Arguments: [-c] MILLISECONDS.
// sigtimedwait() takes no part with "-c": under any tracer, strace too, the kernel queues even
// ignored signals for it to see (sig_ignored() in kernel/signal.c), which wakes the call, and it
// answers EINTR whatever the tracer does.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int stop_now;
static int interrupted;

static void note(int result) {
  if (result < 0 && errno == EINTR) __atomic_fetch_add(&interrupted, 1, __ATOMIC_RELAXED);
}

static void work(void) {
  for (volatile int i = 0; i < 20000; ++i) {
  }
}

static void* wait_epoll(void* unused) {
  (void)unused;
  const int fd = epoll_create1(0);
  struct epoll_event event;
  while (!stop_now) {
    work();
    note(epoll_wait(fd, &event, 1, 1));
  }
  return NULL;
}

static void* wait_signal(void* unused) {
  (void)unused;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  const struct timespec timeout = {0, 1000000};
  while (!stop_now) {
    work();
    note(sigtimedwait(&set, NULL, &timeout));
  }
  return NULL;
}

static void* wait_semaphore(void* unused) {
  (void)unused;
  const int id = semget(IPC_PRIVATE, 1, 0600);
  const struct timespec timeout = {0, 1000000};
  while (!stop_now) {
    work();
    struct sembuf down = {0, -1, 0};
    note(semtimedop(id, &down, 1, &timeout));
  }
  semctl(id, 0, IPC_RMID);
  return NULL;
}

static void* wait_socket(void* unused) {
  (void)unused;
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return NULL;
  const struct timeval timeout = {0, 1000};
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  char byte;
  while (!stop_now) {
    work();
    note((int)recv(pair[0], &byte, 1, 0));
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int children = argc > 1 && strcmp(argv[1], "-c") == 0;
  const int milliseconds = argc > 1 + children ? atoi(argv[1 + children]) : 1000;
  void* (*const bodies[])(void*) = {wait_epoll, wait_semaphore, wait_socket, wait_signal};
  const int threads = children ? 3 : 4;
  pthread_t ids[4];
  for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, bodies[i], NULL);
  for (int i = 0; i < milliseconds / 5; ++i) {
    if (children) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      usleep(5000);
      waitpid(child, NULL, 0);
    } else {
      usleep(5000);
    }
  }
  stop_now = 1;
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  printf("%d interrupted\n", interrupted);
  return interrupted == 0 ? 0 : 1;
}
