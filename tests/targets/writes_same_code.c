// Writes the beginning of target() over itself and calls it: the breakpoint there is gone.
// Argument: "back" makes the page read-only again first.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline, aligned(64))) static int target(int value) {
  sink += value;
  return sink > 100 ? 1 : 2;
}

__attribute__((noinline)) static int later(int value) { return target(value) + 1; }

int main(int argc, char** argv) {
  // As the file has it: where a breakpoint is in memory, it is not read.
  unsigned char code[8];
  FILE* const own = fopen("/proc/self/exe", "rb");
  FILE* const maps = fopen("/proc/self/maps", "r");
  char line[512];
  unsigned long begin = 0, end = 0, offset = 0;
  const uintptr_t at = (uintptr_t)target;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 && begin <= at && at < end) {
      break;
    }
  }
  if (own == NULL || fseek(own, (long)(at - begin + offset), SEEK_SET) != 0 ||
      fread(code, 1, sizeof code, own) != sizeof code) {
    return 1;
  }
  const uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
  void* const page = (void*)(at & ~(size - 1));
  mprotect(page, 2 * size, PROT_READ | PROT_WRITE | PROT_EXEC);
  memcpy((void*)at, code, sizeof code);
  __builtin___clear_cache((char*)at, (char*)at + sizeof code);
  if (argc > 1 && strcmp(argv[1], "back") == 0) mprotect(page, 2 * size, PROT_READ | PROT_EXEC);
  printf("%d\n", later(3));
  return 0;
}
