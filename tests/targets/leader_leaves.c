// The main thread ends by pthread_exit; another one works on and decides the exit status.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long rounds = 300;

__attribute__((noinline)) static void* carry_on(void* unused) {
  (void)unused;
  for (long i = 0; i < rounds; ++i) {
    for (volatile int k = 0; k < 1000000; ++k) {
    }
  }
  puts("carried on");
  exit(17);
}

int main(int argc, char** argv) {
  if (argc > 1) rounds = atol(argv[1]);
  pthread_t id;
  pthread_create(&id, NULL, carry_on, NULL);
  pthread_exit(NULL);
}
