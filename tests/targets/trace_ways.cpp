// Calls and returns in every way, with known numbers: WAY [N]. Ends with 0, but for "abort".
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define CALLED extern "C" __attribute__((noinline, noipa, used))

namespace {
volatile long sink;
jmp_buf to_outer;
sigjmp_buf out_of_handler;
ucontext_t main_context;
ucontext_t coroutine;
constexpr size_t kStack = 65'536;

void* new_stack(size_t size) {
  return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
}  // namespace

CALLED int fib(int n) {
  if (n < 2) {
    return n;
  }
  const int last = fib(n - 1);
  const int before = fib(n - 2);
  sink = before;  // else gcc makes a loop of the second call
  return last + before;
}
CALLED void leaf(long value) { sink = value; }

CALLED void calls_leaves(long n) {
  for (long i = 0; i < n; ++i) leaf(i);
}

CALLED long waits_deep(long n) {
  if (n > 0) {
    const long below = waits_deep(n - 1);
    leaf(n);
    return below + 1;
  }
  puts("ready");
  fflush(stdout);
  while (getchar() == 'x') {
    leaf(n);
  }
  return 1;
}

CALLED void throws(int n) {
  leaf(n);
  throw n;
}
CALLED void passes(int n) {
  throws(n);
  sink = 1;
}
CALLED void cleans(int n) {
  struct Guard {
    ~Guard() { leaf(2); }
  } guard;
  passes(n);
}
CALLED void catches(int n) {
  try {
    cleans(n);
  } catch (int caught) {
    leaf(caught);
  }
  leaf(4);
}

CALLED void jumps_back() {
  leaf(1);
  longjmp(to_outer, 1);
}
CALLED void between() {
  jumps_back();
  sink = 2;
}
CALLED void sets_jump() {
  if (setjmp(to_outer) == 0) {
    between();
  }
  leaf(3);
}

CALLED void waits_behind_jump() {
  if (setjmp(to_outer) == 0) {
    between();
  }
  usleep(300'000);
  leaf(3);
}

CALLED void handler(int) {
  leaf(5);
  siglongjmp(out_of_handler, 1);
}
CALLED void raises() {
  leaf(6);
  raise(SIGUSR1);
}
CALLED void waits_behind_handler() {
  if (sigsetjmp(out_of_handler, 1) == 0) {
    raise(SIGUSR1);
  }
  leaf(8);
  usleep(300'000);
  leaf(9);
}
CALLED void leaves_handler() {
  if (sigsetjmp(out_of_handler, 1) == 0) {
    raises();
  }
  leaf(7);
}

CALLED void last(long n) {
  leaf(n);
  leaf(n);
}
CALLED void third(long n) {
  sink = n;
  last(n + 1);
}
CALLED void second(long n) {
  sink = n;
  third(n + 1);
}
CALLED void first(long n) {
  sink = n;
  second(n + 1);
}

CALLED long deep(long n) {
  const long below = n == 0 ? 0 : deep(n - 1);
  sink = below;
  return below + 1;
}

CALLED void yields() {
  leaf(8);
  swapcontext(&coroutine, &main_context);
  leaf(9);
}
CALLED void body() {
  yields();
  yields();
}
CALLED void resumes() {
  swapcontext(&main_context, &coroutine);
  leaf(10);
}

CALLED void* calls_much(void* n) {
  for (long i = 0; i < static_cast<long>(reinterpret_cast<intptr_t>(n)); ++i) {
    leaf(i);
  }
  return nullptr;
}
CALLED void ends_thread() {
  leaf(1);
  pthread_exit(nullptr);
}
CALLED void* body_of_thread(void*) {
  ends_thread();
  return nullptr;
}
CALLED void ends_process() {
  leaf(1);
  exit(0);
}

CALLED void spawns(char* program) {
  char exit_way[] = "exit";
  char* const words[] = {program, exit_way, nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, program, nullptr, nullptr, words, environ) == 0) {
    waitpid(child, nullptr, 0);
  }
  leaf(2);
}

static void with_threads(long n) {
  pthread_t threads[3];
  for (pthread_t& thread : threads) {
    pthread_create(&thread, nullptr, calls_much, reinterpret_cast<void*>(n));
  }
  for (const pthread_t thread : threads) {
    pthread_join(thread, nullptr);
  }
  pthread_create(&threads[0], nullptr, body_of_thread, nullptr);
  pthread_join(threads[0], nullptr);
}

static void set_handler() {
  stack_t alternate = {};
  alternate.ss_sp = new_stack(kStack);
  alternate.ss_size = kStack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
}

static void with_coroutine() {
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = new_stack(kStack);
  coroutine.uc_stack.ss_size = kStack;
  coroutine.uc_link = &main_context;
  makecontext(&coroutine, body, 0);
  resumes();
  resumes();
  resumes();
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "fib";
  const long n = argc > 2 ? atol(argv[2]) : 7;
  const auto is = [way](const char* name) { return strcmp(way, name) == 0; };
  if (is("fib")) {
    printf("%d\n", fib(static_cast<int>(n)));
  } else if (is("cold-hot")) {
    for (int i = 0; i < 6; ++i) {
      calls_leaves(2'000);
      usleep(1000);
    }
  } else if (is("throw")) {
    catches(3);
  } else if (is("longjmp")) {
    sets_jump();
  } else if (is("longjmp-wait")) {
    waits_behind_jump();
    waits_behind_jump();
  } else if (is("handler")) {
    set_handler();
    leaves_handler();
  } else if (is("handler-wait")) {
    set_handler();
    waits_behind_handler();
    waits_behind_handler();
  } else if (is("tails")) {
    first(1);
  } else if (is("deep")) {
    printf("%ld\n", deep(n));
  } else if (is("deep-wait")) {
    printf("%ld\n", waits_deep(n));
    fflush(stdout);
    getchar();
  } else if (is("coroutine")) {
    with_coroutine();
  } else if (is("threads")) {
    with_threads(n);
  } else if (is("exit")) {
    ends_process();
  } else if (is("fork") || is("vfork")) {
    leaf(1);
    const pid_t child = is("fork") ? fork() : vfork();
    if (child == 0) {
      leaf(2);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    leaf(3);
  } else if (is("spawn")) {
    leaf(1);
    spawns(argv[0]);
    leaf(3);
  } else if (is("exec")) {
    leaf(1);
    char fib_way[] = "fib";
    char* const words[] = {argv[0], fib_way, nullptr};
    execv(argv[0], words);
  } else if (is("loop")) {  // until it is told to end
    printf("ready\n");
    fflush(stdout);
    char byte = 0;
    while (read(0, &byte, 1) == 1) {
      fib(static_cast<int>(n));
    }
  }
  return 0;
}
