// What breakpoints in a program's blocks could harm, one way for each first argument. Says how it
// went, with counts that are known beforehand, and ends with 0 where nothing went wrong.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <stdexcept>

#define NOT_INLINED __attribute__((noinline, noclone))

static volatile sig_atomic_t handled, bad;

/// N calls of it are N hits of each of its blocks but the loop's, which has 10 N.
extern "C" NOT_INLINED long ten_times(long x) {
  for (int i = 0; i < 10; ++i) {
    x = x * 3 + i;
    __asm__ volatile("" : "+r"(x));
  }
  return x;
}

extern "C" NOT_INLINED long work(long rounds) {
  long x = 1;
  for (long i = 0; i < rounds; ++i) x = ten_times(x);
  return x;
}

static int say() {
  printf("%d handled, %d bad\n", static_cast<int>(handled), static_cast<int>(bad));
  fflush(stdout);
  return bad != 0;
}

// ---- signals ------------------------------------------------------------------------------------

extern "C" NOT_INLINED void on_signal(int) { handled = handled + 1; }

// A timer's signal in the middle of probed code; the handler is probed as well.
static int alarms() {
  signal(SIGALRM, on_signal);
  const itimerval every = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &every, nullptr);
  const long right = work(7);
  while (handled < 100) {
    if (work(7) != right) bad = bad + 1;
  }
  signal(SIGALRM, SIG_IGN);
  return say();
}

static void* page;

#ifdef __x86_64__
/// Reads what `from` points to with an instruction that is a block by itself and that nobody can do
/// in a thread's stead.
extern "C" long read_alone(const int* from, long rounds);
__asm__(
    ".pushsection .text\n.globl read_alone\n.type read_alone, @function\nread_alone:\n"
    "  cvtsi2sdl (%rdi), %xmm0\n"
    "1: dec %rsi\n  jnz 1b\n"
    "  cvttsd2si %xmm0, %rax\n  ret\n"
    ".size read_alone, .-read_alone\n.popsection\n");
static const void* pc_of(const void* context) {
  return reinterpret_cast<const void*>(
      static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
}
#else
extern "C" NOT_INLINED long read_alone(const int* from, long) { return *from; }
static const void* pc_of(const void*) { return reinterpret_cast<const void*>(&read_alone); }
#endif

extern "C" NOT_INLINED void on_fault(int, siginfo_t* info, void* context) {
  handled = handled + 1;
  if (info->si_addr != page || info->si_code != SEGV_ACCERR ||
      pc_of(context) != reinterpret_cast<const void*>(&read_alone)) {
    bad = bad + 1;
  }
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

// A probed instruction faults; the handler (on another stack, too) sees it where the program has
// it, and it is done again.
static int faults(bool on_other_stack) {
  page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t stack = {};
  stack.ss_size = 1U << 16U;
  stack.ss_sp = malloc(stack.ss_size);
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | (on_other_stack ? SA_ONSTACK : 0);
  sigaction(SIGSEGV, &action, nullptr);
  *static_cast<int*>(page) = 5;
  for (int i = 0; i < 100; ++i) {
    mprotect(page, 4096, PROT_NONE);
    if (read_alone(static_cast<const int*>(page), 3) != 5) bad = bad + 1;
    if (read_alone(static_cast<const int*>(page), 3) != 5) bad = bad + 1;
  }
  return say();
}

// ---- ways out of a function ---------------------------------------------------------------------

static jmp_buf back;
extern "C" NOT_INLINED void jump_back(int value) { longjmp(back, value); }
extern "C" NOT_INLINED void landed(int value) { handled = handled + value; }

static int jumps() {
  static int i;
  for (i = 0; i < 100; ++i) {
    const int value = setjmp(back);
    if (value == 0) jump_back(1);
    landed(value);
  }
  bad = handled != 100;
  return say();
}

extern "C" NOT_INLINED void cleaned_up() { handled = handled + 1; }
extern "C" NOT_INLINED void caught(int value) { handled = handled + value; }
struct Guard {
  ~Guard() { cleaned_up(); }
};
extern "C" NOT_INLINED void throws(int value) {
  if (value % 2 == 1) throw value;
  throw std::runtime_error("even");
}
extern "C" NOT_INLINED void passes_on(int value) {
  const Guard guard;
  throws(value);
  puts("not here");
}

static int exceptions() {
  for (int i = 0; i < 100; ++i) {
    try {
      passes_on(i);
    } catch (const std::exception&) {
      caught(2);
    } catch (int) {
      caught(1);
    }
  }
  bad = handled != 100 + 50 * 2 + 50;
  return say();
}

// ---- threads and processes ----------------------------------------------------------------------

static void* thread_works(void* rounds) {
  return reinterpret_cast<void*>(work(reinterpret_cast<intptr_t>(rounds)));
}

static int threads(long rounds) {
  const long right = work(rounds);
  pthread_t ids[4];
  for (pthread_t& id : ids) {
    pthread_create(&id, nullptr, thread_works, reinterpret_cast<void*>(rounds));
  }
  for (const pthread_t id : ids) {
    void* got = nullptr;
    pthread_join(id, &got);
    if (reinterpret_cast<intptr_t>(got) != right) bad = bad + 1;
  }
  return say();
}

static void expect(pid_t child, int status) {
  int got = 0;
  if (waitpid(child, &got, 0) != child || !WIFEXITED(got) || WEXITSTATUS(got) != status) {
    bad = bad + 1;
    fprintf(stderr, "a child ended with wait status %#x, not %d\n", static_cast<unsigned>(got),
            status);
  }
}

extern "C" NOT_INLINED void in_child(long right) { _exit(work(20) == right ? 3 : 4); }

static void forks(int rounds) {
  const long right = work(20);
  for (int i = 0; i < rounds; ++i) {
    const pid_t child = fork();
    if (child == 0) in_child(right);
    expect(child, 3);
  }
}

extern "C" NOT_INLINED void in_vfork() { _exit(5); }

static int children(const char* self) {
  forks(10);
  for (int i = 0; i < 10; ++i) {
    const pid_t child = vfork();
    if (child == 0) in_vfork();
    expect(child, 5);
  }
  for (int i = 0; i < 3; ++i) {
    const pid_t child = vfork();
    if (child == 0) {
      execl(self, self, "work", "20", nullptr);
      _exit(9);
    }
    expect(child, 0);
  }
  return say();
}

/// Says "ready", then does something until stdin ends.
static int until_the_end(void (*something)()) {
  puts("ready");
  fflush(stdout);
  fd_set inputs;
  for (;;) {
    something();
    FD_ZERO(&inputs);
    FD_SET(0, &inputs);
    timeval none = {0, 0};
    char byte = 0;
    if (select(1, &inputs, nullptr, nullptr, &none) == 1 && read(0, &byte, 1) == 0) break;
  }
  return say();
}

static void sleep_and_work() {
  const timespec pause = {0, 20'000'000};
  nanosleep(&pause, nullptr);
  static const long right = work(20);
  if (work(20) != right) bad = bad + 1;
}

static void fork_one() { forks(1); }

// ---- the trap signal ----------------------------------------------------------------------------

extern "C" NOT_INLINED void on_trap(int) { handled = handled + 1; }

static int own_trap(long rounds_before) {
  const long right = work(1000);
  work(rounds_before);
  signal(SIGTRAP, on_trap);
  for (int i = 0; i < 20; ++i) {
    raise(SIGTRAP);
    if (work(1000) != right) bad = bad + 1;
  }
  bad = bad + (handled != 20);
  return say();
}

static void* works_deaf(void* rounds) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  const long got = work(reinterpret_cast<intptr_t>(rounds));
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  if (sigismember(&now, SIGUSR1) != 1) bad = bad + 1;
  return reinterpret_cast<void*>(got);
}

static int trap_blocked(long rounds) {
  const long right = work(rounds);
  for (int i = 0; i < 5; ++i) {
    pthread_t id{};
    void* got = nullptr;
    pthread_create(&id, nullptr, works_deaf, reinterpret_cast<void*>(rounds));
    pthread_join(id, &got);
    if (reinterpret_cast<intptr_t>(got) != right) bad = bad + 1;
  }
  return say();
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "";
  const long rounds = argc > 2 ? atol(argv[2]) : 100;
  const auto is = [way](const char* name) { return strcmp(way, name) == 0; };
  if (is("work")) return work(rounds) == 0;
  if (is("alarms")) return alarms();
  if (is("faults")) return faults(false);
  if (is("faults-on-other-stack")) return faults(true);
  if (is("jumps")) return jumps();
  if (is("exceptions")) return exceptions();
  if (is("threads")) return threads(rounds);
  if (is("children")) return children(argv[0]);
  if (is("sleeps")) return until_the_end(sleep_and_work);
  if (is("forks")) return until_the_end(fork_one);
  if (is("own-trap")) return own_trap(0);
  if (is("own-trap-late")) return own_trap(rounds);
  if (is("trap-blocked")) return trap_blocked(rounds);
  return 2;
}
