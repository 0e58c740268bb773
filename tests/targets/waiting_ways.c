// Signals that come while a program waits, or stands at an instruction that shows its flags; what
// becomes of its masks and of SIGTRAP in handlers and children. One way for each first argument.
// Prints "right" where everything is as it should be.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void count(int number) {
  (void)number;
  ++handled;
}

static int right(int is_right) {
  puts(is_right ? "right" : "wrong");
  return is_right ? 0 : 1;
}

/// Blocks all signals, SIGTRAP as well, but while it waits in three ways; each wait ends by one
/// signal with a handler, which comes behind one that is ignored.
static int block_all(void) {
  struct sigaction action = {.sa_handler = count};
  sigaction(SIGUSR1, &action, NULL);
  sigset_t all, old;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &old);
  int to_child[2];
  const int epoll = epoll_create1(0);
  if (pipe(to_child) != 0 || epoll < 0) return 2;
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    close(to_child[1]);
    while (read(to_child[0], &byte, 1) == 1) {
      kill(self, SIGWINCH);
      if (byte == 'b') usleep(200);
      kill(self, SIGUSR1);
    }
    _exit(0);
  }
  int bad = 0;
  for (int i = 1; i <= 150; ++i) {
    struct epoll_event event;
    if (write(to_child[1], i % 2 == 0 ? "a" : "b", 1) != 1) ++bad;
    errno = 0;
    const int result = i % 3 == 0   ? sigsuspend(&old)
                       : i % 3 == 1 ? ppoll(NULL, 0, NULL, &old)
                                    : epoll_pwait(epoll, &event, 1, -1, &old);
    sigset_t now;
    sigprocmask(SIG_SETMASK, NULL, &now);
    if (result != -1 || errno != EINTR || handled != i || !sigismember(&now, SIGTRAP)) ++bad;
  }
  close(to_child[1]);
  waitpid(child, NULL, 0);
  return right(bad == 0);
}

/// Pushes its flags and pops them again while ignored signals come.
static int push_flags(void) {
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 400; ++i) {
      usleep(1000);
      kill(self, SIGWINCH);
    }
    _exit(0);
  }
#ifdef __x86_64__
  long rounds = 40000;
  __asm__ volatile(
      "sub $256, %%rsp\n"
      "1: pushfq\n"
      "popfq\n"
      "dec %0\n"
      "jnz 1b\n"
      "add $256, %%rsp"
      : "+r"(rounds)
      :
      : "memory", "cc");
#endif
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return right(1);
}

/// SIGTRAP, which the program ignores, ends no call.
static int ignore_trap(void) {
  signal(SIGTRAP, SIG_IGN);
  const int epoll = epoll_create1(0);
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 10; ++i) {
      usleep(20000);
      kill(self, SIGTRAP);
    }
    _exit(0);
  }
  struct epoll_event event;
  const int result = epoll_wait(epoll, &event, 1, 500);
  waitpid(child, NULL, 0);
  return right(result == 0);
}

/// Looks at its mask deeper in the stack than where a handler that blocked all signals had run.
static __attribute__((noinline)) int look_deep(void) {
  volatile char room[1 << 16];
  room[0] = 0;
  sigset_t now;
  sigprocmask(SIG_SETMASK, NULL, &now);
  return sigismember(&now, SIGTRAP) + room[0];
}

static int leave_handler(void) {
  struct sigaction action = {.sa_handler = count};
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, NULL);
  int bad = 0;
  for (int i = 0; i < 20; ++i) {
    raise(SIGUSR1);
    bad += look_deep();
  }
  return right(bad == 0 && handled == 20);
}

/// A child that shares the memory has actions of its own.
static int set_in_vfork(void) {
  signal(SIGTRAP, SIG_IGN);
  const pid_t child = vfork();
  if (child == 0) {
    signal(SIGTRAP, SIG_DFL);
    execl("/bin/true", "true", NULL);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  raise(SIGTRAP);
  return right(status == 0);
}

/// A child that is started with SIGTRAP ignored.
static int hand_on(const char* self) {
  signal(SIGTRAP, SIG_IGN);
  const pid_t child = fork();
  if (child == 0) {
    execl(self, self, "raise", NULL);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return right(status == 0);
}

static int raise_it(void) {
  struct sigaction action;
  raise(SIGTRAP);
  return sigaction(SIGTRAP, NULL, &action) != 0 || action.sa_handler != SIG_IGN;
}

/// One that is blocked waits over exec.
static int wait_over_exec(const char* self) {
  sigset_t trap;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  sigprocmask(SIG_BLOCK, &trap, NULL);
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGTRAP);
    execl(self, self, "unblock", NULL);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return right(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP);
}

static int unblock(void) {
  sigset_t trap;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  sigprocmask(SIG_UNBLOCK, &trap, NULL);
  return 0;
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  if (strcmp(way, "leave-handler") == 0) return leave_handler();
  if (strcmp(way, "set-in-vfork") == 0) return set_in_vfork();
  if (strcmp(way, "hand-on") == 0) return hand_on(argv[0]);
  if (strcmp(way, "raise") == 0) return raise_it();
  if (strcmp(way, "over-exec") == 0) return wait_over_exec(argv[0]);
  if (strcmp(way, "unblock") == 0) return unblock();
  if (strcmp(way, "block-all") == 0) return block_all();
  if (strcmp(way, "push-flags") == 0) return push_flags();
  if (strcmp(way, "ignore-trap") == 0) return ignore_trap();
  return 2;
}
