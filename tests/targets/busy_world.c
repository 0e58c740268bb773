// Threads of every kind until its standard input ends: some compute, some sleep in calls that a
// stop could break, some are interrupted by signals all the time, some are created and end. Then
// prints "right", if each saw what it had to see, else what it saw.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kComputing = 18, kSleeping = 9, kSignalled = 2, kCreating = 2 };

static atomic_bool over;
static atomic_int wrong;

static void expect(int holds, const char* what) {
  if (!holds) {
    atomic_fetch_add(&wrong, 1);
    printf("wrong: %s, errno %d\n", what, errno);
  }
}

static uint64_t mix(uint64_t value, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    value ^= value << 13;
    value ^= value >> 7;
    value ^= value << 17;
  }
  return value;
}

static void* compute(void* expected) {
  while (!over) {
    expect(mix(88172645463325252ULL, 100000) == *(uint64_t*)expected, "a sum");
  }
  return NULL;
}

static void* wait_for_event(void* unused) {
  const int events = epoll_create1(0);
  const int never = eventfd(0, 0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(events, EPOLL_CTL_ADD, never, &event);
  while (!over) {
    expect(epoll_wait(events, &event, 1, 3) == 0, "epoll_wait");
  }
  return unused;
}

static void* wait_for_word(void* unused) {
  int word = 0;
  while (!over) {
    const struct timespec time = {0, 2000000};
    const long woken = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
    expect(woken == -1 && errno == ETIMEDOUT, "futex");
  }
  return unused;
}

static void* sleep_shortly(void* unused) {
  while (!over) {
    const struct timespec time = {0, 150000};
    expect(nanosleep(&time, NULL) == 0, "nanosleep");
  }
  return unused;
}

static _Thread_local volatile sig_atomic_t handled;

static void on_signal(int signal) { handled += signal == SIGUSR1; }

static void* be_signalled(void* expected) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  timer_t timer;
  const struct itimerspec rate = {{0, 100000}, {0, 100000}};
  expect(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
  expect(timer_settime(timer, 0, &rate, NULL) == 0, "timer_settime");
  while (!over) {
    expect(mix(88172645463325252ULL, 100000) == *(uint64_t*)expected, "a sum under signals");
  }
  timer_delete(timer);
  expect(handled > 0, "signals");
  return NULL;
}

static void* end_at_once(void* sum) {
  *(uint64_t*)sum = mix(88172645463325252ULL, 1000);
  return NULL;
}

static void* create(void* unused) {
  const uint64_t expected = mix(88172645463325252ULL, 1000);
  while (!over) {
    uint64_t sum = 0;
    pthread_t thread;
    expect(pthread_create(&thread, NULL, end_at_once, &sum) == 0, "pthread_create");
    expect(pthread_join(thread, NULL) == 0 && sum == expected, "a short thread's sum");
  }
  return unused;
}

int main(void) {
  void* (*const sleeping[])(void*) = {wait_for_event, wait_for_word, sleep_shortly};
  uint64_t sum = mix(88172645463325252ULL, 100000);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  pthread_t threads[kComputing + kSleeping + kSignalled + kCreating];
  int made = 0;
  for (int i = 0; i < kComputing; ++i) {
    pthread_create(&threads[made++], NULL, compute, &sum);
  }
  for (int i = 0; i < kSleeping; ++i) {
    pthread_create(&threads[made++], NULL, sleeping[i % 3], NULL);
  }
  for (int i = 0; i < kSignalled; ++i) {
    pthread_create(&threads[made++], NULL, be_signalled, &sum);
  }
  for (int i = 0; i < kCreating; ++i) {
    pthread_create(&threads[made++], NULL, create, NULL);
  }
  printf("ready\n");
  fflush(stdout);
  char end;
  expect(read(0, &end, 1) == 0, "read");
  over = 1;
  for (int i = 0; i < made; ++i) {
    pthread_join(threads[i], NULL);
  }
  if (wrong == 0) {
    printf("right\n");
  }
  return wrong != 0;
}
