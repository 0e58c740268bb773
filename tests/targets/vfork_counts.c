/* A function that is hot, in a process whose children share its memory and call it, too. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline, noclone)) static long ten_times(long x) {
  for (int i = 0; i < 10; ++i) {
    x = x * 3 + i;
    __asm__ volatile("" : "+r"(x));
  }
  return x;
}

/* 100 calls before and 100 after ten children, each of which makes 7. */
int main(void) {
  long x = 1;
  for (int i = 0; i < 100; ++i) x = ten_times(x);
  for (int i = 0; i < 10; ++i) {
    const pid_t child = vfork();
    if (child == 0) {
      long y = 1;
      for (int k = 0; k < 7; ++k) y = ten_times(y);
      _exit(y == 0);
    }
    int status = 1;
    if (waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  for (int i = 0; i < 100; ++i) x = ten_times(x);
  printf("%s\n", x != 0 ? "done" : "");
  return 0;
}
