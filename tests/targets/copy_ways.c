// What must work as ever while the code that does it is counted, moved, put back and moved again:
// one way for each first argument, the second is the rounds. Says how it went, and ends with 0
// where nothing was lost, doubled, or seen at an address that is not the program's own.
// each_round() is called once a round.
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif
#define NOT_INLINED __attribute__((noinline, noclone))
#define KEEP(value) __asm__ volatile("" : "+r"(value))

extern char** environ;

static volatile sig_atomic_t handled, bad;
static int period = 100;

static void require(int holds, const char* what) {
  if (!holds) {
    ++bad;
    if (write(2, what, strlen(what)) < 0 || write(2, "\n", 1) < 0) _exit(3);
  }
}

NOT_INLINED long each_round(long x) {
  KEEP(x);
  return x * 3 + 1;
}

/// Some blocks, with a result that is known: the number of odd and of even numbers below n.
NOT_INLINED long work(long n) {
  long odd = 0, even = 0;
  for (long i = 0; i < n; ++i) {
    if ((i & 1) != 0) {
      ++odd;
    } else {
      ++even;
    }
    KEEP(odd);
  }
  return odd * 1000000 + even;
}
static long worked(long n) { return n / 2 * 1000000 + (n + 1) / 2; }

// ---- code of files: no other address may be seen
// -------------------------------------------------

enum { kRanges = 64 };
static uintptr_t begins[kRanges], ends[kRanges];
static int ranges;

static void read_text(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[4096];
  ranges = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long begin, end;
    char flags[8];
    if (sscanf(line, "%lx-%lx %7s", &begin, &end, flags) == 3 && flags[2] == 'x' &&
        (strchr(line, '/') != NULL || strstr(line, "[vdso]") != NULL) && ranges < kRanges) {
      begins[ranges] = begin;
      ends[ranges++] = end;
    }
  }
  if (maps != NULL) fclose(maps);
}

static int is_text(uintptr_t address) {
  if (address >= begins[0] && address < ends[0]) return 1;  // the program's own
  for (int i = 0; i < ranges; ++i) {
    if (address >= begins[i] && address < ends[i]) return 1;
  }
  return 0;
}

static uintptr_t* pc_of(void* context) {
#if defined(__x86_64__)
  return (uintptr_t*)&((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
#else
  return (uintptr_t*)&((ucontext_t*)context)->uc_mcontext.pc;
#endif
}

static void handle(int number, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
  sigaction(number, &action, NULL);
}

static void start_timer(int microseconds) {
  const struct itimerval every = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &every, NULL);
}

// ---- the ways -----------------------------------------------------------------------------------

/// A machine with a switch and one with computed gotos run the same program.
NOT_INLINED long by_switch(const unsigned char* code, long x) {
  for (;; ++code) {
    switch (*code) {
      case 0:
        return x;
      case 1:
        x += 5;
        break;
      case 2:
        x *= 3;
        break;
      case 3:
        x ^= 0x55;
        break;
      case 4:
        x -= 7;
        break;
      case 5:
        x = (x & 1) != 0 ? x + 9 : x - 2;
        break;
      case 6:
        x &= 0xffff;
        break;
      case 7:
        x = each_round(x);
        break;
      case 8:
        x |= 4;
        break;
      default:
        x = -x;
    }
    KEEP(x);
  }
}

NOT_INLINED long by_goto(const unsigned char* code, long x) {
  static void* const table[] = {&&end, &&add,  &&times, &&flip, &&less,
                                &&odd, &&mask, &&round, &&four, &&minus};
#define NEXT              \
  do {                    \
    KEEP(x);              \
    goto* table[*++code]; \
  } while (0)
  goto* table[*code];
add:
  x += 5;
  NEXT;
times:
  x *= 3;
  NEXT;
flip:
  x ^= 0x55;
  NEXT;
less:
  x -= 7;
  NEXT;
odd:
  x = (x & 1) != 0 ? x + 9 : x - 2;
  NEXT;
mask:
  x &= 0xffff;
  NEXT;
round:
  x = x * 3 + 1;
  NEXT;
four:
  x |= 4;
  NEXT;
minus:
  x = -x;
  NEXT;
end:
  return x;
}

static int switches(long rounds) {
  const unsigned char code[] = {1, 2, 3, 9, 4, 5, 6, 7, 8, 5, 1, 3, 3, 2, 6, 0};
  long a = 1, b = 1;
  for (long i = 0; i < rounds; ++i) {
    a = by_switch(code, a + i);
    b = by_goto(code, b + i);
    require(a == b, "the two machines differ");
  }
  printf("%ld\n", a);
  return bad != 0;
}

typedef long Step(long left, long sum);
NOT_INLINED Step step_one, step_two, step_three;
static Step* volatile steps[] = {step_one, step_two, step_three};
NOT_INLINED long step_one(long left, long sum) {
  return left == 0 ? sum : steps[left % 3](left - 1, sum + each_round(left));
}
NOT_INLINED long step_two(long left, long sum) {
  return left == 0 ? sum : step_one(left - 1, sum + each_round(left));
}
NOT_INLINED long step_three(long left, long sum) {
  return left == 0 ? sum : steps[left % 2](left - 1, sum ^ each_round(left));
}
static int tails(long rounds) {
  printf("%ld\n", step_three(rounds, 7));
  return 0;
}

/// Goes down, and checks on its way back that the frames are its own.
NOT_INLINED long descend(long depth, long check) {
  volatile long own = depth ^ check;
  const long below = depth == 0 ? each_round(check) : descend(depth - 1, check);
  require(own == (depth ^ check), "another frame");
  return below + (depth & 1);
}
static int recursion(long rounds) {
  long sum = 0;
  for (long i = 0; i < rounds; ++i) sum += descend(500, i);
  printf("%ld\n", sum);
  return bad != 0;
}

static void* first_frames[64];
static int first_count;
NOT_INLINED long look_back(long depth, long round) {
  long result = each_round(round);
  if (depth > 0) {
    result = look_back(depth - 1, round);
  } else {
    void* frames[64];
    const int count = backtrace(frames, 64);
    if (round == 0) {
      memcpy(first_frames, frames, sizeof frames);
      first_count = count;
    }
    require(count == first_count, "another depth");
    for (int i = 0; i < count; ++i) {
      require(frames[i] == first_frames[i], "another frame");
      require(is_text((uintptr_t)frames[i]), "a frame that is not in a file's text");
    }
  }
  KEEP(result);
  return result + 1;
}
static int backtraces(long rounds) {
  long sum = 0;
  read_text();
  for (long i = 0; i < rounds; ++i) sum += look_back(0, i);
  first_count = 0;
  for (long i = 0; i < rounds; ++i) sum += look_back(9, i);
  printf("%ld, %d frames\n", sum, first_count > 10);
  return bad != 0;
}

static void check_pc(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  ++handled;
  require(is_text(*pc_of(context)), "a pc that is not in a file's text");
}
/// Signals of a timer beside the work.
static int handlers(long rounds) {
  read_text();
  handle(SIGALRM, check_pc, SA_RESTART);
  handle(SIGUSR1, check_pc, SA_RESTART);
  start_timer(period);
  long sum = 0;
  for (long i = 0; i < rounds; ++i) {
    require(work(200 + i % 7) == worked(200 + i % 7), "wrong work");
    sum += each_round(i);
    if (i % 8 == 0) raise(SIGUSR1);
  }
  while (handled < rounds / 8 + 20) require(work(99) == worked(99), "wrong work");
  start_timer(0);
  printf("%ld\n", sum);
  return bad != 0;
}

static char* page;
static sigjmp_buf again;

NOT_INLINED long touch(char* at) { return *(volatile char*)at + 1; }
NOT_INLINED long store(char* at, long value) {
  *(volatile char*)at = (char)value;
  return value;
}
static int within(uintptr_t pc, const void* function) { return pc - (uintptr_t)function < 128; }

static void unprotect(int number, siginfo_t* info, void* context) {
  (void)number;
  ++handled;
  const uintptr_t pc = *pc_of(context);
  require(info->si_addr == page + 8, "another address of a fault");
  require(within(pc, (void*)touch) || within(pc, (void*)store), "another pc of a fault");
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

#if defined(__x86_64__)
NOT_INLINED long divide(long a, long b) {
  long low = a, high = 0;
  __asm__ volatile("idivq %2" : "+a"(low), "+d"(high) : "r"(b) : "cc");
  return low;
}
NOT_INLINED long undefined(long x) {
  __asm__ volatile("ud2" : "+r"(x));
  return x + 1;
}
static void on_division(int number, siginfo_t* info, void* context) {
  (void)number;
  ++handled;
  require((uintptr_t)info->si_addr == *pc_of(context), "si_addr of SIGFPE is not the pc");
  require(within(*pc_of(context), (void*)divide), "another pc of SIGFPE");
  require(info->si_code == FPE_INTDIV, "another code of SIGFPE");
  siglongjmp(again, 1);
}
static void on_undefined(int number, siginfo_t* info, void* context) {
  (void)number;
  ++handled;
  require((uintptr_t)info->si_addr == *pc_of(context), "si_addr of SIGILL is not the pc");
  require(within(*pc_of(context), (void*)undefined), "another pc of SIGILL");
  *pc_of(context) += 2;
}
#endif

/// Faults that are tried again, and signals that say where they come from.
static int faults(long rounds) {
  page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  handle(SIGSEGV, unprotect, 0);
  volatile long sum = 0, expected = 0;
#if defined(__x86_64__)
  handle(SIGFPE, on_division, SA_NODEFER);
  handle(SIGILL, on_undefined, 0);
#endif
  for (volatile long i = 0; i < rounds; ++i) {
    mprotect(page, 4096, i % 2 == 0 ? PROT_NONE : PROT_READ);
    sum += store(page + 8, i % 50);
    mprotect(page, 4096, PROT_NONE);
    sum += touch(page + 8) + each_round(i);
    expected += 3;
#if defined(__x86_64__)
    sum += undefined(i) + divide(i, 1 + i % 3);
    if (sigsetjmp(again, 1) == 0) {
      sum += divide(i, 0);
    }
    expected += 2;
    handled += 1;
#else
    handled += 1;
#endif
  }
  require(handled == expected, "another number of faults");
  printf("%ld, %d handled\n", sum, (int)handled);
  return bad != 0;
}

static jmp_buf back;
NOT_INLINED void jump_back(long depth, int how) {
  if (depth > 0) {
    jump_back(depth - 1, how);
  } else if (how == 0) {
    longjmp(back, 5);
  } else {
    raise(SIGUSR2);
  }
  require(0, "longjmp came back");
}
static void leave(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  (void)context;
  siglongjmp(again, 6);
}
static void leave_work(int number, siginfo_t* info, void* context) {
  ++handled;
  check_pc(number, info, context);
  siglongjmp(again, 7);
}
/// From below, from a handler of a signal of its own, and from one that interrupts the work.
static int longjmps(long rounds) {
  read_text();
  handle(SIGUSR2, leave, 0);
  handle(SIGALRM, leave_work, 0);
  volatile long jumps = 0;
  for (volatile long i = 0; i < rounds; ++i) {
    each_round(i);
    if (setjmp(back) == 0) jump_back(i % 5, 0);
    ++jumps;
    const int came = sigsetjmp(again, 1);
    if (came == 0) jump_back(i % 5, 1);
    require(came == 6, "another way back");
    ++jumps;
    if (i % 16 == 0 && sigsetjmp(again, 1) == 0) {
      const struct itimerval once = {{0, 0}, {0, 300}};
      setitimer(ITIMER_REAL, &once, NULL);
      for (;;) require(work(50) == worked(50), "wrong work");
    }
  }
  printf("%ld jumps\n", (long)jumps);
  return bad != 0;
}

enum { kCoroutines = 4 };
static ucontext_t main_context, contexts[kCoroutines];
static long produced[kCoroutines], produce_rounds;
static void produce(int which) {
  for (long i = 0; i < produce_rounds; ++i) {
    produced[which] += each_round(i) ^ which;
    require(work(9) == worked(9), "wrong work");
    swapcontext(&contexts[which], which + 1 < kCoroutines ? &contexts[which + 1] : &main_context);
  }
}
static int coroutines(long rounds) {
  produce_rounds = rounds;
  for (int i = 0; i < kCoroutines; ++i) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = malloc(65536);
    contexts[i].uc_stack.ss_size = 65536;
    contexts[i].uc_link = i + 1 < kCoroutines ? &contexts[i + 1] : &main_context;
    makecontext(&contexts[i], (void (*)(void))produce, 1, i);
  }
  for (long i = 0; i <= rounds; ++i) swapcontext(&main_context, &contexts[0]);
  printf("%ld %ld %ld %ld\n", produced[0], produced[1], produced[2], produced[3]);
  return bad != 0;
}

static void expect(pid_t child, int status) {
  int got = 0;
  require(waitpid(child, &got, 0) == child && WIFEXITED(got) && WEXITSTATUS(got) == status,
          "another status of a child");
}
/// Children in batches of eight, each with work of its own; every tenth round vfork and spawn.
static int forks(long rounds) {
  char* const truth[] = {"/bin/sh", "-c", "exit 5", NULL};
  pid_t children[8];
  volatile int running = 0;
  for (volatile long i = 0; i < rounds; ++i) {
    each_round(i);
    const pid_t child = fork();
    if (child == 0) {
      _exit(work(30 + i % 50) == worked(30 + i % 50) ? 40 + (int)(i % 8) : 1);
    }
    require(work(30) == worked(30), "wrong work");
    children[running++] = child;
    if (running == 8 || i + 1 == rounds) {
      for (int k = 0; k < running; ++k) expect(children[k], 40 + k);
      running = 0;
    }
    if (i % 10 == 9) {
      const pid_t borrowing = vfork();
      if (borrowing == 0) {
        execv(truth[0], truth);
        _exit(99);
      }
      expect(borrowing, 5);
      pid_t spawned;
      require(posix_spawn(&spawned, truth[0], NULL, NULL, truth, environ) == 0, "no spawn");
      expect(spawned, 5);
    }
  }
  printf("%ld children\n", rounds);
  return bad != 0;
}

static long cleaned;
static void clean(void* unused) {
  (void)unused;
  __atomic_add_fetch(&cleaned, 1, __ATOMIC_RELAXED);
}
NOT_INLINED void exit_below(long depth) {
  pthread_cleanup_push(clean, NULL);
  if (depth == 0) pthread_exit((void*)11);
  if (depth > 0) exit_below(depth - 1);
  require(0, "pthread_exit came back");
  pthread_cleanup_pop(0);
}
static void* exits(void* unused) {
  exit_below(5);
  return unused;
}
static void* is_cancelled(void* barrier) {
  pthread_cleanup_push(clean, NULL);
  pthread_barrier_wait(barrier);
  for (;;) {
    require(work(40) == worked(40), "wrong work");
    pthread_testcancel();
  }
  pthread_cleanup_pop(0);
  return NULL;
}
static void* sleeps_until_cancelled(void* barrier) {
  pthread_cleanup_push(clean, NULL);
  pthread_barrier_wait(barrier);
  for (;;) pause();
  pthread_cleanup_pop(0);
  return NULL;
}
static void* is_cancelled_anywhere(void* barrier) {
  pthread_cleanup_push(clean, NULL);
  pthread_barrier_wait(barrier);
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  for (;;) work(1000);
  pthread_cleanup_pop(0);
  return NULL;
}
static int cancels(long rounds) {
  void* (*const ways[])(void*) = {is_cancelled, sleeps_until_cancelled, is_cancelled_anywhere};
  for (long i = 0; i < rounds; ++i) {
    pthread_t ids[4];
    pthread_barrier_t barrier;
    void* result;
    each_round(i);
    pthread_barrier_init(&barrier, NULL, 4);
    pthread_create(&ids[3], NULL, exits, NULL);
    for (int k = 0; k < 3; ++k) pthread_create(&ids[k], NULL, ways[k], &barrier);
    pthread_barrier_wait(&barrier);
    for (int k = 0; k < 3; ++k) {
      pthread_cancel(ids[k]);
      pthread_join(ids[k], &result);
      require(result == PTHREAD_CANCELED, "a thread that was not cancelled");
    }
    pthread_join(ids[3], &result);
    require(result == (void*)11, "another result of a thread");
    pthread_barrier_destroy(&barrier);
  }
  printf("%ld cleaned\n", cleaned);
  return bad != 0 || cleaned != rounds * 9;
}

static char *small_stack, *small_end;
static void on_small_stack(int number, siginfo_t* info, void* context) {
  char here;
  require(&here >= small_stack && &here < small_end, "not on its own stack");
  check_pc(number, info, context);
}
/// An alternate stack that holds one frame of a signal and little more; below it is no memory.
static int small_stacks(long rounds) {
  const size_t least = getauxval(AT_MINSIGSTKSZ) + 1024;
  const size_t size = (least < (size_t)MINSIGSTKSZ ? (size_t)MINSIGSTKSZ : least) & ~(size_t)15;
  const size_t whole = (size + 4095) & ~(size_t)4095;
  char* memory = mmap(NULL, whole + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory + 4096, whole, PROT_READ | PROT_WRITE);
  small_stack = memory + 4096;
  small_end = small_stack + size;
  const stack_t stack = {.ss_sp = small_stack, .ss_size = size};
  require(sigaltstack(&stack, NULL) == 0, "no alternate stack");
  read_text();
  handle(SIGALRM, on_small_stack, SA_RESTART | SA_ONSTACK);
  handle(SIGUSR1, on_small_stack, SA_RESTART | SA_ONSTACK);
  start_timer(period);
  long sum = 0;
  for (long i = 0; i < rounds; ++i) {
    require(work(60) == worked(60), "wrong work");
    sum += each_round(i);
    raise(SIGUSR1);
  }
  start_timer(0);
  require(handled >= rounds, "signals were lost");
  printf("%ld\n", sum);
  return bad != 0;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    int (*run)(long rounds);
  } ways[] = {
      {"switches", switches},
      {"tails", tails},
      {"recursion", recursion},
      {"backtraces", backtraces},
      {"handlers", handlers},
      {"faults", faults},
      {"longjmps", longjmps},
      {"coroutines", coroutines},
      {"forks", forks},
      {"cancels", cancels},
      {"small-stacks", small_stacks},
  };
  const long rounds = argc > 2 ? atol(argv[2]) : 100;
  if (argc > 3) period = atoi(argv[3]);
  for (size_t i = 0; i < sizeof ways / sizeof ways[0] && argc > 1; ++i) {
    if (strcmp(argv[1], ways[i].name) == 0) return ways[i].run(rounds);
  }
  return 2;
}
