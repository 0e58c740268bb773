// What programs do with signals, one way for each first argument; says how it went and ends with 0
// where nothing was lost, doubled or seen that should not have been.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled, bad;

static void spin(void) {
  for (volatile int i = 0; i < 50000; ++i) {
  }
}

static void count(int number) {
  (void)number;
  ++handled;
}

static void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigaction(number, &action, NULL);
}

// SIGPROF 1,000 times a second of CPU time, as profilers do. Prints ticks per second of CPU time.
static int prof(void) {
  handle(SIGPROF, count, SA_RESTART);
  const struct itimerval every = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_PROF, &every, NULL);
  const clock_t begin = clock();
  while (clock() - begin < CLOCKS_PER_SEC / 2) spin();
  printf("%.0f\n", handled / ((double)(clock() - begin) / CLOCKS_PER_SEC));
  return 0;
}

// SIGALRM 1,000 times a second beside system calls that restart.
static int alarms(void) {
  handle(SIGALRM, count, SA_RESTART);
  const struct itimerval every = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &every, NULL);
  int ends[2];
  if (pipe(ends) != 0) return 2;
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 100; ++i) {
      usleep(5000);
      if (write(ends[1], "x", 1) != 1) _exit(1);
    }
    _exit(0);
  }
  char byte;
  for (int i = 0; i < 100; ++i) {
    if (read(ends[0], &byte, 1) != 1) ++bad;
    spin();
  }
  const struct itimerval none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &none, NULL);
  waitpid(child, NULL, 0);
  printf("%d handled, %d bad\n", (int)handled > 20, (int)bad);
  return bad != 0 || handled <= 20;
}

static volatile sig_atomic_t next_value;
static void check_value(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  if (info->si_code != SI_QUEUE || info->si_value.sival_int != next_value) ++bad;
  ++next_value;
}

// Another process queues 2,000 real-time signals; each arrives once, in order.
static int queued(void) {
  struct sigaction action = {.sa_sigaction = check_value, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGRTMIN + 5, &action, NULL);
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 2000; ++i) {
      const union sigval value = {.sival_int = i};
      while (sigqueue(self, SIGRTMIN + 5, value) != 0 && errno == EAGAIN) usleep(1000);
      if (i % 50 == 0) spin();
    }
    _exit(0);
  }
  while (next_value < 2000 && bad == 0) spin();
  waitpid(child, NULL, 0);
  printf("%d queued, %d bad\n", (int)next_value, (int)bad);
  return bad != 0 || next_value != 2000;
}

// Sleeps in sigsuspend() and ppoll() with a mask that lets one signal in, 300 times each: each
// sleep ends by exactly one signal.
static int masks(void) {
  handle(SIGUSR1, count, 0);
  sigset_t block, old;
  sigemptyset(&block);
  sigaddset(&block, SIGUSR1);
  sigprocmask(SIG_BLOCK, &block, &old);
  int to_child[2];
  if (pipe(to_child) != 0) return 2;
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    close(to_child[1]);
    while (read(to_child[0], &byte, 1) == 1) kill(self, SIGUSR1);
    _exit(0);
  }
  for (int i = 1; i <= 600; ++i) {
    spin();
    if (write(to_child[1], "x", 1) != 1) ++bad;
    errno = 0;
    const int result = i % 2 == 0 ? sigsuspend(&old) : ppoll(NULL, 0, NULL, &old);
    if (result != -1 || errno != EINTR || handled != i) ++bad;
  }
  close(to_child[1]);
  waitpid(child, NULL, 0);
  printf("%d handled, %d bad\n", (int)handled, (int)bad);
  return bad != 0;
}

static char* other_stack;
static void* page;
static void on_other_stack(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  char here;
  if (&here < other_stack || &here >= other_stack + 65536 || info->si_addr != page) ++bad;
  ++handled;
  spin();
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

// SIGSEGV handled on an alternate stack, 300 times.
static int altstack(void) {
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  other_stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const stack_t stack = {.ss_sp = other_stack, .ss_size = 65536};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_sigaction = on_other_stack, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGSEGV, &action, NULL);
  for (int i = 0; i < 300; ++i) {
    mprotect(page, 4096, PROT_NONE);
    *(volatile char*)page = 1;
    spin();
  }
  printf("%d handled, %d bad\n", (int)handled, (int)bad);
  return handled != 300 || bad != 0;
}

static void* tiny(void* unused) {
  spin();
  return unused;
}

// Threads with the smallest stack that there is.
static int tiny_stacks(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN);
  for (int i = 0; i < 200; ++i) {
    pthread_t id;
    if (pthread_create(&id, &attributes, tiny, NULL) != 0) return 1;
    pthread_join(id, NULL);
  }
  puts("done");
  return 0;
}

// In strict mode read, write, exit and sigreturn are all that is left.
static int seccomp_strict(void) {
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return 2;
  for (int i = 0; i < 1000; ++i) spin();
  if (write(1, "strict\n", 7) != 7) syscall(SYS_exit, 1);
  syscall(SYS_exit, 0);
  return 1;
}

static void on_sigsys(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  if (info->si_syscall != SYS_getppid) ++bad;
  ++handled;
}

// getpid fails, getppid raises SIGSYS, getpgid asks a tracer that is not for it.
static int seccomp_filter(void) {
  const struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EDOM),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof rules / sizeof rules[0], (struct sock_filter*)rules};
  struct sigaction action = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO};
  sigaction(SIGSYS, &action, NULL);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 2;
  for (int i = 0; i < 500; ++i) {
    spin();
    if (syscall(SYS_getpid) != -1 || errno != EDOM) ++bad;
    syscall(SYS_getppid);
    if (syscall(SYS_getpgid, 0) != -1 || errno != ENOSYS) ++bad;
  }
  printf("%d trapped, %d bad\n", (int)handled, (int)bad);
  return handled != 500 || bad != 0;
}

// With SIGCHLD ignored children vanish, and wait says ECHILD after the last.
static int children_ignored(int children) {
  signal(SIGCHLD, SIG_IGN);
  for (int i = 0; i < children; ++i) {
    if (fork() == 0) {
      spin();
      _exit(i);
    }
  }
  errno = 0;
  const pid_t waited = wait(NULL);
  printf("%d %s\n", (int)waited, errno == ECHILD ? "ECHILD" : "?");
  return waited != -1 || errno != ECHILD;
}

// The parent ends, the child goes on for a while and then leaves a file.
static int daemonise(const char* path) {
  if (fork() != 0) return 6;
  setsid();
  for (int i = 0; i < 3000; ++i) spin();
  FILE* file = fopen(path, "w");
  if (file == NULL) return 1;
  fputs("went on\n", file);
  fclose(file);
  return 0;
}

// Traces a child of its own, as debuggers do.
static int traces_child(void) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(33);
    raise(SIGUSR1);
    _exit(4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) {
    printf("the child cannot be traced: %d\n", WEXITSTATUS(status));
    return WEXITSTATUS(status);
  }
  ptrace(PTRACE_CONT, child, NULL, NULL);
  waitpid(child, &status, 0);
  printf("traced, %d\n", WEXITSTATUS(status));
  return !WIFEXITED(status) || WEXITSTATUS(status) != 4;
}

// Says "ready", works until SIGINT and ends with 7; with "deaf" it ignores SIGINT and ends with 8
// when stdin does.
static void leave(int number) {
  (void)number;
  if (write(1, "interrupted\n", 12) == 12) _exit(7);
}
// The last trap of each round comes when popf has cleared the flag.
static volatile sig_atomic_t traps;
static void count_trap(int signal) {
  (void)signal;
  ++traps;
}
static int steps_itself(void) {
  signal(SIGTRAP, count_trap);
#ifdef __x86_64__
  for (int i = 0; i < 3; ++i) {
    __asm__ volatile(
        "sub $256, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; nop; nop;"
        "pushfq; andq $~0x100, (%%rsp); popfq; nop; add $256, %%rsp" ::
            : "memory", "cc");
  }
#endif
  printf("%d traps\n", (int)traps);
  return 0;
}
static int until_interrupted(int deaf) {
  signal(SIGINT, deaf ? SIG_IGN : leave);
  puts("ready");
  fflush(stdout);
  struct pollfd input = {0, POLLIN, 0};
  while (!deaf || poll(&input, 1, 0) == 0) spin();
  puts("went on");
  return 8;
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  if (strcmp(way, "prof") == 0) return prof();
  if (strcmp(way, "alarms") == 0) return alarms();
  if (strcmp(way, "queued") == 0) return queued();
  if (strcmp(way, "masks") == 0) return masks();
  if (strcmp(way, "altstack") == 0) return altstack();
  if (strcmp(way, "tiny-stacks") == 0) return tiny_stacks();
  if (strcmp(way, "seccomp-strict") == 0) return seccomp_strict();
  if (strcmp(way, "seccomp-filter") == 0) return seccomp_filter();
  if (strcmp(way, "children-ignored") == 0) {
    return children_ignored(argc > 2 ? atoi(argv[2]) : 50);
  }
  if (strcmp(way, "daemon") == 0 && argc > 2) return daemonise(argv[2]);
  if (strcmp(way, "steps-itself") == 0) return steps_itself();
  if (strcmp(way, "traces-child") == 0) return traces_child();
  if (strcmp(way, "interrupt") == 0) return until_interrupted(0);
  if (strcmp(way, "deaf") == 0) return until_interrupted(1);
  return 2;
}
