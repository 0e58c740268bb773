// A thread that is not the leader execs the arguments while others spin.
#include <pthread.h>
#include <unistd.h>

static char** command;

static void* spin(void* unused) {
  (void)unused;
  for (volatile unsigned long i = 0;; ++i) {
  }
  return NULL;
}

static void* run(void* unused) {
  (void)unused;
  usleep(150000);
  execv(command[0], command);
  _exit(111);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  command = argv + 1;
  pthread_t id;
  pthread_create(&id, NULL, spin, NULL);
  pthread_create(&id, NULL, spin, NULL);
  pthread_create(&id, NULL, run, NULL);
  spin(NULL);
}
