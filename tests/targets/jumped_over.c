// Functions with room for a jump at their beginnings, at addresses that are aligned in every way,
// and copies of them, which the functions do not lead to. Four threads call the functions and check
// what they return, one executes a loop, until stdin ends. With the argument "blocked" the threads
// block all signals but SIGTRAP, with "forks" two children at a time call the functions as well.
// Prints "ready" and the addresses of the list of functions and copies, and of the threads'
// progress.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ROOM ".byte 0x0f, 0x1f, 0x44, 0, 0\n"  // a nop of 5 bytes
#define ADD_ONE ROOM "lea 1(%rdi), %rax\n ret\n"
#define LOOP(label) ROOM "cmpb $0, over(%rip)\n je " label "\n ret\n"
#define PAD ", 0xcc"
#else
#define ROOM "nop\n"
#define ADD_ONE ROOM "add x0, x0, #1\n ret\n"
#define LOOP(label) ROOM "adrp x9, over\n ldrb w9, [x9, :lo12:over]\n cbz w9, " label "\n ret\n"
#define PAD ""
#endif
#define AT(offset) ".balign 64\n .skip " offset PAD "\n"
#define PAIR(name, offset) \
  AT(offset) "original_" name ":\n" ADD_ONE AT("64") "copy_" name ":\n" ADD_ONE
#define ADDRESSES(name) ".quad original_" name ", copy_" name "\n"

__asm__(".text\n .balign 4096\n" PAIR("0", "64") PAIR("4", "4") PAIR("28", "28")  //
        PAIR("60", "60")                                                          //
#if defined(__x86_64__)
        PAIR("3", "3") PAIR("7", "7") PAIR("15", "15") PAIR("61", "61") PAIR("62", "62")
            PAIR("63", "63")
#endif
                AT("8") "original_loop:\n" LOOP("original_loop")         //
        AT("8") "copy_loop:\n" LOOP("copy_loop")                         //
        ".balign 4096\n .skip 4092\n original_page:\n" ADD_ONE           //
        ".balign 64\n copy_page:\n" ADD_ONE                              //
        ".balign 4096\n text_end: nop\n"                                 //
        ".data\n .balign 8\n pairs:\n"                                   //
        ADDRESSES("loop") ADDRESSES("0") ADDRESSES("4") ADDRESSES("28")  //
        ADDRESSES("60") ADDRESSES("page")                                //
#if defined(__x86_64__)
        ADDRESSES("3") ADDRESSES("7") ADDRESSES("15") ADDRESSES("61") ADDRESSES("62")
            ADDRESSES("63")
#endif
                ".quad 0, 0\n .text\n");

typedef uint64_t (*function)(uint64_t);
struct pair {
  function original, copy;
};
extern struct pair pairs[];

enum { kThreads = 4 };
volatile char over;
static volatile int wrong;
static volatile uint64_t progress[kThreads];

static void* call(void* number) {
  uint64_t sum = 0;
  while (!over) {
    for (const struct pair* pair = pairs + 1; pair->original; ++pair) {
      if (pair->original(sum) != sum + 1) wrong = 1;
      ++sum;
    }
    progress[(intptr_t)number] = sum;
  }
  return NULL;
}

static void call_in_child(void) {
  for (uint64_t sum = 0;;) {
    for (const struct pair* pair = pairs + 1; pair->original; ++pair) {
      if (pair->original(sum) != sum + 1) _exit(1);
      ++sum;
    }
  }
}

// A child must live until it is killed.
static void* fork_children(void* unused) {
  pid_t children[2] = {0, 0};
  for (int i = 0; !over; i = !i) {
    int status = SIGKILL;
    if (children[i] > 0) {
      kill(children[i], SIGKILL);
      waitpid(children[i], &status, 0);
    }
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) wrong = 1;
    children[i] = fork();
    if (children[i] == 0) call_in_child();
    usleep(50000);
  }
  for (int i = 0; i < 2; ++i) {
    if (children[i] > 0) kill(children[i], SIGKILL);  // 0 would be our whole process group
  }
  return unused;
}

static void* loop(void* unused) {
  pairs[0].original(0);
  return unused;
}

int main(int argc, char** argv) {
  pthread_t ids[kThreads + 2];
  if (argc > 1 && strcmp(argv[1], "blocked") == 0) {
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGTRAP);  // superprofiler sees to that before it plants anything
    pthread_sigmask(SIG_BLOCK, &all, NULL);
  }
  const int forks = argc > 1 && strcmp(argv[1], "forks") == 0;
  if (forks) pthread_create(&ids[kThreads + 1], NULL, fork_children, NULL);
  pthread_create(&ids[kThreads], NULL, loop, NULL);
  for (intptr_t i = 0; i < kThreads; ++i) pthread_create(&ids[i], NULL, call, (void*)i);
  printf("ready %p %p\n", (void*)pairs, (void*)progress);
  fflush(stdout);
  char byte;
  while (read(0, &byte, 1) > 0) {
  }
  over = 1;
  for (int i = 0; i <= kThreads + forks; ++i) pthread_join(ids[i], NULL);
  puts(wrong ? "WRONG" : "right");
  return wrong;
}
