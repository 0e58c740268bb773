// Code that comes, changes and goes: "libraries" opens, calls and closes a library and puts code of
// its own where that was; "patches" writes to its own text; "jit" makes code and makes it anew.
// Each calls each_round() once a round. Arguments: WAY ROUNDS. Says how many calls answered
// wrongly.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOT_INLINED __attribute__((noinline, noclone))
#define PAGE 4096

static int wrong;

NOT_INLINED void each_round(void) { __asm__ volatile(""); }

/// A function that returns `value` (0..65535).
static size_t make_code(unsigned char* into, unsigned value) {
#if defined(__x86_64__)
  const unsigned char code[] = {0xB8, value & 0xFF, value >> 8, 0, 0, 0xC3};  // mov, ret
#else
  const uint32_t code[] = {0x52800000U | value << 5, 0xD65F03C0U};
#endif
  memcpy(into, code, sizeof code);
  __builtin___clear_cache((char*)into, (char*)into + sizeof code);
  return sizeof code;
}

NOT_INLINED static void call(void* code, int value) {
  int (*function)(void) = (int (*)(void))code;
  for (int i = 0; i < 3; ++i) wrong += function() != value;
}

static void libraries(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    void* const library = dlopen("libm.so.6", RTLD_NOW);
    double (*root)(double) = library ? (double (*)(double))dlsym(library, "cbrt") : NULL;
    wrong += root == NULL || root(27) < 2.99 || root(27) > 3.01;
    if (library) dlclose(library);
    void* const page = (void*)((uintptr_t)root & ~(uintptr_t)(PAGE - 1));
    void* const at = mmap(page, 2 * PAGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == page) {
      make_code((unsigned char*)root, 1000 + i);
      mprotect(at, 2 * PAGE, PROT_READ | PROT_EXEC);
      call((void*)root, 1000 + i);
    }
    if (at != MAP_FAILED) munmap(at, 2 * PAGE);
    each_round();
  }
}

/// In a page of its own: what writes to it must go on meanwhile.
__attribute__((aligned(PAGE), section(".text.patched"))) NOT_INLINED int patched(void) {
  __asm__ volatile(".space 64, 0x90");
  return 0;
}
__attribute__((aligned(PAGE), section(".text.patched2"))) NOT_INLINED int behind_it(void) {
  return 1;
}

static void patches(int rounds) {
  void* code = (void*)patched;
  __asm__("" : "+r"(code));
  call(code, 0);
  for (int i = 0; i < rounds; ++i) {
    if (mprotect(code, PAGE, PROT_READ | PROT_WRITE | (i % 2 ? PROT_EXEC : 0)) != 0) ++wrong;
    make_code(code, 2000 + i);
    if (mprotect(code, PAGE, PROT_READ | PROT_EXEC) != 0) ++wrong;
    call(code, 2000 + i);
    wrong += behind_it() != 1;
    each_round();
  }
}

static void jit(int rounds) {
  unsigned char* const both =
      mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int file = memfd_create("code", 0);
  if (file < 0 || ftruncate(file, PAGE) != 0) exit(2);
  unsigned char* const written = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  unsigned char* const run = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  for (int i = 0; i < rounds; ++i) {
    make_code(both, 3000 + i);
    call(both, 3000 + i);
    make_code(written, 4000 + i);
    __builtin___clear_cache((char*)run, (char*)run + PAGE);
    call(run, 4000 + i);
    unsigned char* const once =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    make_code(once, 5000 + i);
    mprotect(once, PAGE, PROT_READ | PROT_EXEC);
    call(once, 5000 + i);
    munmap(once, PAGE);
    each_round();
  }
}

int main(int argc, char** argv) {
  const int rounds = argc > 2 ? atoi(argv[2]) : 10;
  const char* const way = argc > 1 ? argv[1] : "";
  if (strcmp(way, "libraries") == 0) {
    libraries(rounds);
  } else if (strcmp(way, "patches") == 0) {
    patches(rounds);
  } else if (strcmp(way, "jit") == 0) {
    jit(rounds);
  } else {
    return 2;
  }
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
