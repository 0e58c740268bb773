// What programs do with SIGTRAP, and with the masks and handlers that it depends on. The first
// argument is what to do; prints "right" where everything is as it should be.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned sum;
static volatile sig_atomic_t handled;

__attribute__((noinline)) static unsigned work(unsigned turns) {
  unsigned result = turns;
  for (unsigned i = 0; i < turns; ++i) {
    if ((i & 3) == 0) {
      result += i;
    } else {
      result ^= i;
    }
  }
  return result;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int right(int is_right) {
  puts(is_right ? "right" : "wrong");
  return is_right ? 0 : 1;
}

static int has_handler(void (*wanted)(int)) {
  struct sigaction action;
  return sigaction(SIGTRAP, NULL, &action) == 0 && action.sa_handler == wanted;
}

static int ignore_it(const char* self, double seconds) {
  struct sigaction before;
  const struct sigaction ignore = {.sa_handler = SIG_IGN};
  int is_right = has_handler(SIG_DFL);
  sigaction(SIGTRAP, &ignore, &before);
  is_right &= before.sa_handler == SIG_DFL && has_handler(SIG_IGN);
  for (const double end = now() + seconds; now() < end;) {
    sum += work(100);
    raise(SIGTRAP);
  }
  is_right &= has_handler(SIG_IGN);
  if (!is_right) return right(0);
  execl(self, self, "ignored", NULL);
  return 1;
}

/// Was started with SIGTRAP ignored.
static int find_it_ignored(void) {
  int is_right = has_handler(SIG_IGN);
  for (int i = 0; i < 100; ++i) {
    sum += work(100);
    raise(SIGTRAP);
  }
  const struct sigaction standard = {.sa_handler = SIG_DFL};
  sigaction(SIGTRAP, &standard, NULL);
  is_right &= has_handler(SIG_DFL);
  sum += work(100);
  return right(is_right);
}

static void on_signal(int signal) {
  (void)signal;
  sum += work(50);
  ++handled;
}

static void* block_and_work(void* until) {
  sigset_t all, old, seen;
  sigfillset(&all);
  int is_right = 1;
  while (now() < *(const double*)until) {
    pthread_sigmask(SIG_BLOCK, &all, &old);
    sum += work(20);
    pthread_sigmask(SIG_BLOCK, NULL, &seen);
    is_right &= sigismember(&seen, SIGTRAP);
    sum += work(20);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &seen);
    is_right &= !sigismember(&seen, SIGTRAP);
    sum += work(20);
    raise(SIGUSR1);
  }
  return is_right ? until : NULL;
}

static int block_it(double seconds) {
  double until = now() + seconds;
  struct sigaction action = {.sa_handler = on_signal};
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, NULL);
  pthread_t other;
  pthread_create(&other, NULL, block_and_work, &until);
  void* first = block_and_work(&until);
  void* second = NULL;
  pthread_join(other, &second);
  return right(first != NULL && second != NULL && handled > 0);
}

static volatile sig_atomic_t wrong;

/// SIGUSR1's handlers run with SIGTRAP blocked, others' without.
static void look_at_mask(int signal) {
  sigset_t seen;
  sum += work(20);
  pthread_sigmask(SIG_BLOCK, NULL, &seen);
  wrong += sigismember(&seen, SIGTRAP) != (signal == SIGUSR1);
  ++handled;
}

static void set_action(int signal, int blocks, struct sigaction* before) {
  struct sigaction action = {.sa_handler = look_at_mask, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  if (blocks) sigfillset(&action.sa_mask);
  sigaction(signal, &action, before);
}

static void look_at_action(int signal, int blocks) {
  struct sigaction action;
  sigaction(signal, NULL, &action);
  wrong += action.sa_handler != look_at_mask || (action.sa_flags & SA_RESTART) == 0 ||
           sigismember(&action.sa_mask, SIGTRAP) != blocks ||
           sigismember(&action.sa_mask, SIGHUP) != blocks;
}

static void look_at_handlers(void) {
  struct sigaction before;
  look_at_action(SIGUSR1, 1);
  look_at_action(SIGUSR2, 0);
  raise(SIGUSR1);
  raise(SIGUSR2);
  set_action(SIGUSR2, 1, &before);
  wrong += sigismember(&before.sa_mask, SIGTRAP);
  look_at_action(SIGUSR2, 1);
  set_action(SIGUSR2, 0, &before);
  wrong += !sigismember(&before.sa_mask, SIGTRAP);
  sum += work(100);
}

static int block_it_in_handlers(double seconds) {
  set_action(SIGUSR1, 1, NULL);
  set_action(SIGUSR2, 0, NULL);
  puts("ready");
  fflush(stdout);
  const double until = now() + seconds;
  for (int i = 0; now() < until; ++i) {
    look_at_handlers();
    sigset_t seen;
    pthread_sigmask(SIG_BLOCK, NULL, &seen);
    wrong += sigismember(&seen, SIGTRAP);
    if (i % 64 != 0) continue;
    const pid_t child = fork();
    if (child == 0) {
      look_at_handlers();
      _exit(wrong == 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    wrong += status != 0;
  }
  return right(wrong == 0 && handled > 0);
}

/// Sends a signal to its process group, or SIGTRAP to itself while it is blocked.
static int send_it(int to_group, double seconds) {
  const double until = now() + seconds;
  while (now() < until) sum += work(1000);
  if (to_group) {
    kill(0, to_group);
  } else {
    sigset_t trap;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    sigprocmask(SIG_BLOCK, &trap, NULL);
    raise(SIGTRAP);
    sum += work(1000);
    puts("blocked");
    fflush(stdout);
    sigprocmask(SIG_UNBLOCK, &trap, NULL);
  }
  sum += work(1000);
  return right(0);
}

static void on_own(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)info;
  (void)context;
  ++handled;
#ifdef __aarch64__
  ((ucontext_t*)context)->uc_mcontext.pc += 4;
#endif
}

/// A breakpoint of the program's own before each odd turn but the first: a block of one byte.
__attribute__((noinline)) static long meet_breakpoints(long turns) {
#ifdef __aarch64__
  __asm__ volatile(
      "b 2f\n"
      "1: brk #1000\n"
      "2: subs %0, %0, #1\n\tb.eq 3f\n\ttbnz %0, #0, 1b\n\tb 2b\n"
      "3:"
      : "+r"(turns)
      :
      : "cc", "memory");
#else
  __asm__ volatile(
      "jmp 2f\n"
      "1: int3\n"
      "2: dec %0\n\tjz 3f\n\ttest $1, %b0\n\tjnz 1b\n\tjmp 2b\n"
      "3:"
      : "+q"(turns)
      :
      : "cc", "memory");
#endif
  return turns;
}

static int have_own(double seconds) {
  const double until = now() + seconds;
  while (now() < until - seconds / 2) sum += meet_breakpoints(1);
  const struct sigaction action = {.sa_sigaction = on_own, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  int met = 0;
  for (; now() < until; met += 5) sum += work(1000) + meet_breakpoints(10);
  return right(handled == met);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const double seconds = argc > 2 ? atof(argv[2]) : 0.2;
  if (strcmp(what, "handlers") == 0) return block_it_in_handlers(seconds);
  if (strcmp(what, "ignored") != 0) {
    puts("ready");
    fflush(stdout);
  }
  if (strcmp(what, "ignore") == 0) return ignore_it(argv[0], seconds);
  if (strcmp(what, "ignored") == 0) return find_it_ignored();
  if (strcmp(what, "own") == 0) return have_own(seconds);
  if (strcmp(what, "block") == 0) return block_it(seconds);
  if (strcmp(what, "group") == 0) return send_it(argc > 3 ? atoi(argv[3]) : SIGTRAP, seconds);
  if (strcmp(what, "blocked") == 0) return send_it(0, 0);
  if (strcmp(what, "late") == 0) {
    for (char byte; read(0, &byte, 1) == 1;) sum += work(1000);
    raise(SIGTRAP);
    return right(0);
  }
  return 2;
}
