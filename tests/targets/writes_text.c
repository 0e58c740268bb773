// Changes its own code while it runs: through /proc/self/mem and between two calls of mprotect, the
// whole instruction or all of it but the first byte. Checks that what it has written is executed.
// writes_text ROUNDS [thread]: with "thread" a second thread writes.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline, used)) static int one(void) { return 1; }
__attribute__((noinline, used)) static int two(void) { return 2; }

extern int chosen(void);
extern char chosen_call[];
#ifdef __x86_64__
__asm__(
    ".text\n.type chosen, @function\nchosen:\n  sub $8, %rsp\nchosen_call:\n  call one\n"
    "  add $8, %rsp\n  ret\n.size chosen, .-chosen\n");
enum { SIZE = 5 };
static void encode(unsigned char* code, int (*to)(void)) {
  const int32_t distance = (int32_t)((intptr_t)to - (intptr_t)chosen_call - SIZE);
  code[0] = 0xE8;
  memcpy(code + 1, &distance, sizeof distance);
}
#else
__asm__(
    ".text\n.type chosen, %function\nchosen:\n  stp x29, x30, [sp, #-16]!\nchosen_call:\n  bl one\n"
    "  ldp x29, x30, [sp], #16\n  ret\n.size chosen, .-chosen\n");
enum { SIZE = 4 };
static void encode(unsigned char* code, int (*to)(void)) {
  const uint32_t distance = (uint32_t)((intptr_t)to - (intptr_t)chosen_call) >> 2 & 0x3FFFFFF;
  const uint32_t word = 0x94000000 | distance;
  memcpy(code, &word, sizeof word);
}
#endif

static int memory;

static void write_code(const unsigned char* code, int way) {
  const int first = way & 1 && SIZE > 4 ? 1 : 0;  // beside the first byte
  char* at = chosen_call + first;
  const size_t size = (size_t)(SIZE - first);
  if (way & 2) {
    if (pwrite(memory, code + first, size, (off_t)(intptr_t)at) != (ssize_t)size) exit(3);
    return;
  }
  char* page = (char*)((intptr_t)at & -4096);
  mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
  memcpy(at, code + first, size);
  mprotect(page, 8192, PROT_READ | PROT_EXEC);
  __builtin___clear_cache(at, at + size);
}

/// Reads what is there and writes it back, as a program does that changes a few bits of a word.
static void write_back(void) {
  unsigned char code[8];
  if (pread(memory, code, SIZE, (off_t)(intptr_t)chosen_call) != SIZE) exit(3);
  usleep(100);
  if (pwrite(memory, code, SIZE, (off_t)(intptr_t)chosen_call) != SIZE) exit(3);
}

static struct {
  const unsigned char* code;
  int way;
  sem_t wanted, done;
} order;

static void* write_in_thread(void* unused) {
  (void)unused;
  for (;;) {
    while (sem_wait(&order.wanted) != 0) {
    }
    if (order.code == NULL) return NULL;
    write_code(order.code, order.way);
    sem_post(&order.done);
  }
}

static void have_written(const unsigned char* code, int way) {
  order.code = code;
  order.way = way;
  sem_post(&order.wanted);
  while (sem_wait(&order.done) != 0) {
  }
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 200;
  const int by_thread = argc > 2;
  memory = open("/proc/self/mem", O_RDWR);
  pthread_t thread;
  sem_init(&order.wanted, 0, 0);
  sem_init(&order.done, 0, 0);
  if (by_thread && pthread_create(&thread, NULL, write_in_thread, NULL) != 0) return 3;
  puts("ready");
  fflush(stdout);
  unsigned char code[SIZE];
  for (int round = 0; round < rounds; ++round) {
    const int wanted = round % 2 == 0 ? 2 : 1;
    for (int i = 0; i < 20; ++i) (void)chosen();
    encode(code, wanted == 1 ? one : two);
    (by_thread ? have_written : write_code)(code, (round + 1) % 4);
    for (int i = 0; i < 20; ++i) {
      if (chosen() != wanted) {
        printf("round %d: old code\n", round);
        return 1;
      }
    }
    if (round % 8 == 7) write_back();
  }
  puts("right");
  return 0;
}
