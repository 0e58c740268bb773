/* Shows its stack at places that are hard to unwind. argv[1] names the one; see tests/live. */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "unwind_truth.h"

struct Truth truth;

FRAME static int leaf(int x) {
  ENTER();
  SHOW();
  LEAVE();
  return x + 1;
}

FRAME static int with_array(int n) {
  ENTER();
  volatile char array[n * 16 + 1];
  array[n] = (char)n;
  int result = leaf(n) + array[n];
  KEEP(array);
  LEAVE();
  return result;
}

FRAME static int with_alloca(int n) {
  ENTER();
  char* memory = alloca((size_t)n * 32);
  memset(memory, n, (size_t)n * 32);
  int result = with_array(n) + memory[n];
  LEAVE();
  return result;
}

FRAME static int compare(const void* a, const void* b) {
  ENTER();
  static int shown;
  if (!shown) {
    shown = 1;
    with_alloca(7);
  }
  int result = *(const int*)a - *(const int*)b;
  LEAVE();
  return result;
}

FRAME static int sort(void) {
  ENTER();
  int numbers[] = {5, 3, 9, 1, 7, 2, 8};
  qsort(numbers, 7, sizeof numbers[0], compare);
  LEAVE();
  return numbers[0];
}

FRAME static int recurse(int depth) {
  ENTER();
  int result = depth > 0 ? recurse(depth - 1) : leaf(depth);
  KEEP(result);
  LEAVE();
  return result + 1;
}

static void on_signal(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  ucontext_t* interrupted = context;
#if defined(__x86_64__)
  truth.returns[truth.count++] = (unsigned long)interrupted->uc_mcontext.gregs[REG_RIP];
  with_array(3);
  interrupted->uc_mcontext.gregs[REG_RIP] += 2; /* behind ud2 */
#else
  truth.returns[truth.count++] = interrupted->uc_mcontext.pc;
  with_array(3);
  interrupted->uc_mcontext.pc += 4;
#endif
  LEAVE();
}

FRAME static int fault(int x) {
  ENTER();
#if defined(__x86_64__)
  __asm__ volatile("ud2");
#else
  __asm__ volatile("udf #0");
#endif
  LEAVE();
  return x * 3;
}

FRAME static int signalled(int on_own_stack) {
  ENTER();
  if (on_own_stack) {
    static char memory[65536];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    sigaltstack(&stack, NULL);
  }
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | (on_own_stack ? SA_ONSTACK : 0);
  sigaction(SIGILL, &action, NULL);
  int result = fault(4) + 1;
  LEAVE();
  return result;
}

static void* thread(void* argument) {
  ENTER();
  int result = with_alloca(5);
  LEAVE();
  KEEP(result);
  return argument;
}

FRAME static int threaded(void) {
  pthread_t id;
  truth.count = 0; /* a thread's stack is its own */
  pthread_create(&id, NULL, thread, NULL);
  pthread_join(id, NULL);
  return 0;
}

/* Through code that no file holds, made here: it keeps a frame pointer and calls its argument. */
FRAME static int made_code(void) {
  ENTER();
#if defined(__x86_64__)
  /* push %rbp; mov %rsp,%rbp; sub $32,%rsp; call *%rsi; leave; ret */
  static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83,
                                       0xec, 0x20, 0xff, 0xd6, 0xc9, 0xc3};
#else
  /* stp x29, x30, [sp, #-32]!; mov x29, sp; blr x1; ldp x29, x30, [sp], #32; ret */
  static const unsigned int code[] = {0xa9be7bfd, 0x910003fd, 0xd63f0020, 0xa8c27bfd, 0xd65f03c0};
#endif
  char* page =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, code, sizeof code);
  __builtin___clear_cache(page, page + sizeof code);
  int (*function)(int, int (*)(int)) = (int (*)(int, int (*)(int)))(void*)page;
  int result = function(3, with_array);
  KEEP(result);
  LEAVE();
  return result;
}

/* Something of everything, for being stepped through. */
FRAME static int work(void) {
  ENTER();
  char text[64];
  int total = snprintf(text, sizeof text, "%d %s %.3f", 42, "steps", 2.5);
  if (vfork() == 0) {
    _exit(0);
  }
  total += sort() + with_alloca(3) + recurse(5) + (int)strtol(text, NULL, 10);
  LEAVE();
  return total;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "sort";
  int result = 0;
  if (strcmp(what, "sort") == 0) {
    result = sort();
  } else if (strcmp(what, "deep") == 0) {
    result = recurse(argc > 2 ? atoi(argv[2]) : 10000);
  } else if (strcmp(what, "signal") == 0) {
    result = signalled(0);
  } else if (strcmp(what, "altstack") == 0) {
    result = signalled(1);
  } else if (strcmp(what, "thread") == 0) {
    result = threaded();
  } else if (strcmp(what, "jit") == 0) {
    result = made_code();
  } else if (strcmp(what, "work") == 0) {
    leaf(0);
    result = work();
    leaf(0);
  }
  return result == -1;
}
