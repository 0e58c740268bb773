// Switches a hook at a function's patchable entry on and off, as a hot patcher does: it keeps the
// bytes that it finds there and writes them back. patches_itself ROUNDS [USLEEP]: of each round's
// 200 calls the first 100 come to the hook. Prints how many did, and the bytes that are left.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NO_PLACE __attribute__((noinline, patchable_function_entry(0, 0)))

long hits;

#ifdef __x86_64__
enum { SIZE = 5 };
void hook(void);
__asm__(
    ".text\n.globl hook\n.type hook, @function\nhook:\n  push %rax\n"
    "  mov hits@GOTPCREL(%rip), %rax\n  incq (%rax)\n  pop %rax\n  ret\n.size hook, .-hook\n");

__attribute__((noinline, patchable_function_entry(SIZE, 0))) static long patched(long value) {
  __asm__ volatile("");
  return value + 1;
}

NO_PLACE static void encode(unsigned char* code, const char* at) {
  const int32_t distance = (int32_t)((const char*)hook - (at + SIZE));
  code[0] = 0xE8;  // call
  memcpy(code + 1, &distance, sizeof distance);
}
#else
enum { SIZE = 4 };
__attribute__((noinline, patchable_function_entry(1, 0))) static long patched(long value) {
  __asm__ volatile("");
  return value + 1;
}

/// An instruction without effect, too, but another one.
NO_PLACE static void encode(unsigned char* code, const char* at) {
  const uint32_t move = 0xAA0903E9;  // mov x9, x9
  (void)at;
  hits += 100;
  memcpy(code, &move, sizeof move);
}
#endif

__attribute__((noinline)) static long calls_it(long value) {
  __asm__ volatile("");
  return patched(value) + 1;
}

static unsigned char kept[SIZE];

NO_PLACE static void patch(int is_on) {
  unsigned char* const at = (unsigned char*)patched;
  void* const page = (void*)((uintptr_t)at & -4096UL);
  if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) exit(3);
  unsigned char code[SIZE];
  if (is_on) {
    memcpy(kept, at, SIZE);
    encode(code, (char*)at);
  } else {
    memcpy(code, kept, SIZE);
  }
  memcpy(at, code, SIZE);
  if (mprotect(page, 8192, PROT_READ | PROT_EXEC) != 0) exit(3);
  __builtin___clear_cache((char*)at, (char*)at + SIZE);
}

NO_PLACE int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 20;
  const unsigned pause = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
  unsigned char first[SIZE];
  memcpy(first, (unsigned char*)patched, 1);
  puts("ready");
  fflush(stdout);
  long sum = 0;
  for (int round = 0; round < rounds; ++round) {
    patch(1);
    if (round == 0) memcpy(first, kept, SIZE);
    for (int i = 0; i < 100; ++i) sum = calls_it(sum);
    patch(0);
    for (int i = 0; i < 100; ++i) sum = calls_it(sum);
    if (pause != 0) usleep(pause);
  }
  const int is_same = memcmp(first, kept, SIZE) == 0;
  printf("%ld calls, %ld hooked, %s\n", sum / 2, hits, is_same ? "the same" : "other bytes");
  return 0;
}
