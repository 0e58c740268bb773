// N threads (default 4) each send themselves M signals (default 100) while a timer (every 700 us,
// or a third argument) and the other threads send them more. Prints the calls of each handler, as
// the handlers counted them.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static long from_self, from_timer, from_others, worked;
static int rounds = 100;
static pthread_t threads[16];
static int thread_count = 4;
static pthread_barrier_t start, finish;

void on_own(int number) {
  (void)number;
  __atomic_add_fetch(&from_self, 1, __ATOMIC_RELAXED);
}
void on_timer(int number) {
  (void)number;
  __atomic_add_fetch(&from_timer, 1, __ATOMIC_RELAXED);
}
void on_other(int number) {
  (void)number;
  __atomic_add_fetch(&from_others, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline, noclone)) void work_a_little(void) {
  __atomic_add_fetch(&worked, 1, __ATOMIC_RELAXED);
}

static void* storm(void* which) {
  const long me = (long)which;
  pthread_barrier_wait(&start);
  for (int i = 0; i < rounds; ++i) {
    raise(SIGUSR1);
    pthread_kill(threads[(me + 1) % thread_count], SIGUSR2);
    work_a_little();
  }
  pthread_barrier_wait(&finish);  // nobody ends while it is sent signals
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) thread_count = atoi(argv[1]);
  if (argc > 2) rounds = atoi(argv[2]);
  struct sigaction action = {.sa_handler = on_own, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  action.sa_handler = on_other;
  sigaction(SIGUSR2, &action, NULL);
  action.sa_handler = on_timer;
  sigaction(SIGALRM, &action, NULL);
  pthread_barrier_init(&start, NULL, (unsigned)thread_count + 1);
  pthread_barrier_init(&finish, NULL, (unsigned)thread_count + 1);
  for (long i = 0; i < thread_count; ++i) pthread_create(&threads[i], NULL, storm, (void*)i);
  const int period = argc > 3 ? atoi(argv[3]) : 700;
  struct itimerval every = {.it_interval = {.tv_usec = period}, .it_value = {.tv_usec = period}};
  setitimer(ITIMER_REAL, &every, NULL);
  pthread_barrier_wait(&start);
  pthread_barrier_wait(&finish);
  every = (struct itimerval){0};
  setitimer(ITIMER_REAL, &every, NULL);
  for (int i = 0; i < thread_count; ++i) pthread_join(threads[i], NULL);
  printf("%ld %ld %ld %ld\n", from_self, from_timer, from_others, worked);
  return from_self == (long)thread_count * rounds && worked == from_self ? 0 : 1;
}
