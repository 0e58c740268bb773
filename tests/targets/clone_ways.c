// Makes children with every combination of clone's flags that the kernel accepts, and checks that
// each computes what it should. Prints how many there were. With an argument it says "ready" first,
// and waits until it is traced, but not for more than so many seconds.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STACK 65536

struct shared {
  volatile int done;
  volatile unsigned result;
};
static struct shared* shared;

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

/// Nothing of libc's: with CLONE_VM the child has its creator's thread-local data.
__attribute__((noinline)) static int child(void* unused) {
  (void)unused;
  shared->result = work(200);
  shared->done = 1;
  return 7;
}

#if defined(__x86_64__)
/// Where syscall(3) returns to on the child's stack.
__attribute__((noreturn)) static void begin_of_child(void) {
  child(NULL);
  asm volatile("syscall" : : "a"(SYS_exit), "D"(7L) : "memory");
  __builtin_unreachable();
}
#endif

static long make_by_clone3(uint64_t flags, char* stack) {
  struct clone_args args = {.flags = flags & ~(uint64_t)0xFF, .exit_signal = flags & 0xFF};
  if (flags & CLONE_VM) {
#if defined(__x86_64__)
    args.stack = (uint64_t)(uintptr_t)stack;
    args.stack_size = STACK - 64;
    *(void (**)(void))(stack + args.stack_size) = begin_of_child;
#else
    (void)stack;  // there syscall(3) returns by a register, and so to the wrong frame
    errno = ENOSYS;
    return -1;
#endif
  }
  const long pid = syscall(SYS_clone3, &args, sizeof args);
  if (pid == 0) {
    child(NULL);
    syscall(SYS_exit_group, 7);
  }
  return pid;
}

static int check(uint64_t flags, int by_clone3, char* stack) {
  memset(shared, 0, sizeof *shared);
  const long pid =
      by_clone3 ? make_by_clone3(flags, stack) : clone(child, stack + STACK, (int)flags, NULL);
  if (pid < 0) return 0;  // the kernel does not accept it
  const struct timespec moment = {0, 20000};
  for (int i = 0; i < 500000 && !shared->done; ++i) nanosleep(&moment, NULL);
  if (!shared->done || shared->result != work(200)) {
    printf("flags %llx: %s\n", (unsigned long long)flags, shared->done ? "wrong" : "hangs");
    exit(1);
  }
  int status = 0;
  if (flags & CLONE_PARENT) {
    for (int i = 0; i < 20; ++i) nanosleep(&moment, NULL);  // it may use its stack still
  } else if (waitpid((pid_t)pid, &status, __WALL) != pid || WEXITSTATUS(status) != 7) {
    printf("flags %llx: status %x\n", (unsigned long long)flags, (unsigned)status);
    exit(1);
  }
  return 1;
}

static int check_all(uint64_t flags, char* stack) {
  return check(flags | SIGCHLD, 0, stack) + check(flags, 0, stack) +
         check(flags | SIGCHLD, 1, stack) + check(flags | CLONE_CLEAR_SIGHAND | SIGCHLD, 1, stack);
}

static int is_traced(void) {
  char line[256];
  int tracer = 0;
  FILE* const status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "TracerPid: %d", &tracer) == 1) break;
  }
  if (status != NULL) fclose(status);
  return tracer != 0;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    puts("ready");
    fflush(stdout);
    const struct timespec moment = {0, 10000000};
    for (int i = 0; i < atoi(argv[1]) * 100 && !is_traced(); ++i) nanosleep(&moment, NULL);
  }
  shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char* stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  static const uint64_t flags[] = {CLONE_VM,    CLONE_FS,     CLONE_FILES,    CLONE_SIGHAND,
                                   CLONE_VFORK, CLONE_PARENT, CLONE_UNTRACED, CLONE_SYSVSEM};
  const unsigned count = sizeof flags / sizeof flags[0];
  int made = 0;
  for (unsigned chosen = 0; chosen < 1U << count; ++chosen) {
    uint64_t all = 0;
    for (unsigned i = 0; i < count; ++i) {
      if (chosen >> i & 1U) all |= flags[i];
    }
    made += check_all(all, stack);
  }
  // Namespaces of their own, where the user may make them.
  static const uint64_t spaces[] = {CLONE_NEWPID,
                                    CLONE_NEWPID | CLONE_VM,
                                    CLONE_NEWPID | CLONE_VM | CLONE_VFORK,
                                    CLONE_NEWPID | CLONE_UNTRACED,
                                    CLONE_NEWPID | CLONE_VM | CLONE_UNTRACED,
                                    CLONE_NEWPID | CLONE_FILES | CLONE_VFORK | CLONE_UNTRACED,
                                    CLONE_NEWUSER | CLONE_NEWPID,
                                    CLONE_NEWUTS | CLONE_NEWIPC | CLONE_VM};
  for (unsigned i = 0; i < sizeof spaces / sizeof spaces[0]; ++i) {
    made += check_all(spaces[i], stack);
  }
  printf("%d children\n", made);
  return 0;
}
