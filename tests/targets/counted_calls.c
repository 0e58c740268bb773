// Calls with known counts, arguments and results, one round for each line of input.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))

enum { kAnswers = 200, kNaps = 12, kLongNaps = 3, kPicks = 30, kBlocks = 40 };
static const size_t kBlockBytes = 54321;

static volatile uint64_t sink;

// 100 of 200 are odd; each tenth has no answer.
APART int answer(int number, const char* name) {
  sink += (unsigned char)name[0];
  return number % 10 == 0 ? -1 : number * 2;
}

APART double half(double number) {
  sink += 1;
  return number / 2;
}

APART void nap(int ms) {
  struct timespec left = {0, ms * 1000000L};
  while (nanosleep(&left, &left) != 0) {
  }
}

APART uint64_t hot(uint64_t number) {
  if (number % 3 == 0) {
    sink += number;
  }
  return number * 7;
}

static int pick_slow(int number) { return number + 1; }
static APART int pick_fast(int number) {
  sink += 1;
  return pick_slow(number);
}
static int (*resolve_pick(void))(int) { return pick_fast; }
APART int pick(int number) __attribute__((ifunc("resolve_pick")));

static void* other_thread(void* unused) {
  for (int i = 1; i <= kAnswers / 2; ++i) {
    sink += (uint64_t)answer(i, "other");
  }
  return unused;
}

static APART void round_of_calls(void) {
  pthread_t other;
  if (pthread_create(&other, NULL, other_thread, NULL) != 0) {
    exit(2);
  }
  for (int i = 1; i <= kAnswers / 2; ++i) {
    sink += (uint64_t)answer(i, i % 2 == 0 ? "even" : "odd\n");
    sink += (uint64_t)half(i);
  }
  pthread_join(other, NULL);
  for (int i = 0; i < kNaps; ++i) {
    nap(i < kLongNaps ? 20 : 2);
  }
  for (int i = 0; i < kPicks; ++i) {
    sink += (uint64_t)pick(i);
  }
  for (int i = 0; i < kBlocks; ++i) {
    void* volatile block = malloc(kBlockBytes);
    free(block);
  }
}

int main(int argc, char** argv) {
  const uint64_t hots = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
  char line[16];
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) != NULL) {
    round_of_calls();
    for (uint64_t i = 0; i < hots; ++i) {
      sink += hot(i);
    }
    puts("round");
    fflush(stdout);
  }
  puts("right");
  return 7;
}
