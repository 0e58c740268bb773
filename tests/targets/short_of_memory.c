// May use little more address space than it needs, or locks its memory ("lock", as root), and calls
// a function that is hot. Prints "right" if it gets the memory that it needs, or if what is locked
// is little.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static __attribute__((noinline)) unsigned work(unsigned turns) {
  unsigned sum = 0;
  for (unsigned i = 0; i < turns; ++i) {
    sum = (i & 3) != 0 ? sum ^ i : sum + i;
  }
  return sum;
}

static long locked_kilobytes(void) {
  char line[256];
  long size = 0;
  FILE* const file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "VmLck: %ld", &size) == 1) break;
  }
  return size;
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "";
  const int locks = strcmp(way, "lock") == 0;
  const struct rlimit most = {900UL << 20, 900UL << 20};
  if (strcmp(way, "limit") == 0 && setrlimit(RLIMIT_AS, &most) == 0) {
    execl(argv[0], argv[0], "limited", NULL);
  }
  if (locks && mlockall(MCL_FUTURE) != 0) {
    puts("right");
    return 0;
  }
  volatile unsigned sum = 0;
  for (int i = 0; i < 200000; ++i) {
    sum += work(50);
  }
  const int is_right = locks ? locked_kilobytes() < (32 << 10) : malloc(500UL << 20) != NULL;
  puts(is_right ? "right" : "wrong");
  return is_right ? 0 : 1;
}
