// Crashes in the way that its argument names, or does not crash.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEPARATE __attribute__((noinline, noclone))

static sigjmp_buf before_fault;
static volatile int zero;
static volatile long sum;

SEPARATE static void leaf(volatile int* at) { *at = 1; }

SEPARATE static void middle(volatile int* at) {
  leaf(at);
  ++sum;
}

SEPARATE static void give_up(void) { abort(); }

SEPARATE static long overflow(long depth) {
  volatile char frame[4096];
  frame[depth % 4096] = 1;
  return overflow(depth + 1) + frame[(depth + 1) % 4096];
}

// Long enough to run from a copy before it crashes.
SEPARATE static void work(const volatile int* numbers, int count) {
  for (int i = 0; i < count; ++i) {
    if (numbers[i] % 3 == 1) {
      sum += numbers[i];
    } else {
      sum ^= numbers[i];
    }
  }
}

SEPARATE static void work_long(void) {
  static volatile int numbers[64];
  for (int i = 0; i < 64; ++i) numbers[i] = i;
  for (int round = 0; round < 300000; ++round) work(numbers, 64);
}

SEPARATE static void* crash_in_thread(void* unused) {
  usleep(50000);
  middle(unused);
  return NULL;
}

SEPARATE static void* spin(void* unused) {
  for (;;) ++sum;
  return unused;
}

SEPARATE static void* sleep_on(void* unused) {
  sleep(1000);
  return unused;
}

SEPARATE static void raise_again(int signal_number) {
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

SEPARATE static void fault_again(int signal_number) { signal(signal_number, SIG_DFL); }

SEPARATE static void jump_back(int signal_number) {
  (void)signal_number;
  siglongjmp(before_fault, 1);
}

static void crash_children(void) {
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) middle(NULL);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV) exit(1);
  }
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (argc > 2) {
    printf("ready\n");
    fflush(stdout);
    (void)!read(0, &(char){0}, 1);
  }
  if (strcmp(how, "leaf") == 0) middle(NULL);
  if (strcmp(how, "abort") == 0) give_up();
  if (strcmp(how, "overflow") == 0) overflow(0);
  if (strcmp(how, "hot") == 0) {
    work_long();
    work(NULL, 1);
  }
  if (strcmp(how, "divide") == 0) sum = (argc + 5) / zero;
  if (strcmp(how, "quit") == 0) {
    kill(getpid(), SIGQUIT);
    sleep(10);
  }
  if (strcmp(how, "thread") == 0) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, spin, NULL);
    pthread_create(&threads[1], NULL, sleep_on, NULL);
    pthread_create(&threads[2], NULL, crash_in_thread, NULL);
    pthread_join(threads[2], NULL);
  }
  if (strcmp(how, "handler") == 0) signal(SIGSEGV, raise_again), middle(NULL);
  if (strcmp(how, "fault again") == 0) signal(SIGSEGV, fault_again), middle(NULL);
  if (strcmp(how, "children") == 0) crash_children();
  if (strcmp(how, "caught") == 0) {
    signal(SIGSEGV, jump_back);
    if (sigsetjmp(before_fault, 1) == 0) middle(NULL);
    signal(SIGQUIT, SIG_IGN);
    raise(SIGQUIT);
  }
  return 0;
}
