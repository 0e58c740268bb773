// Ends in the way that its argument names, after a little work.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  for (volatile long i = 0; i < 20000000; ++i) {
  }
  const char* how = argc > 1 ? argv[1] : "exit";
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "segv") == 0) raise(SIGSEGV);
  if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(how, "term") == 0) kill(getpid(), SIGTERM);
  return argc > 2 ? atoi(argv[2]) : 42;
}
