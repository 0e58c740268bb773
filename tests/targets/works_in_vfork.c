// A child by vfork works in its parent's memory, says its pid, works until stdin ends, and executes
// true(1). The parent goes on then, and ends with 7.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void work(volatile long* done) {
  for (int i = 0; i < 100; ++i) ++*done;
}

int main(void) {
  volatile long done = 0;
  const pid_t child = vfork();
  if (child == 0) {
    char text[32];
    const int size = snprintf(text, sizeof text, "%d\n", getpid());
    if (write(1, text, (size_t)size) != size) _exit(1);
    char byte = 0;
    for (int i = 0; i < 100; ++i) work(&done);
    while (read(0, &byte, 1) == 1) work(&done);
    execl("/bin/true", "true", (char*)NULL);
    _exit(127);
  }
  for (int i = 0; i < 100; ++i) work(&done);
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0 ? 7 : 1;
}
