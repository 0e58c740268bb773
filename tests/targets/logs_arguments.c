// Calls work(0), work(2), .. work(5998).
#define CALLED __attribute__((noinline, noipa, used))

static volatile unsigned long sum;

CALLED void work(unsigned long value) {
  for (unsigned long i = 0; i < 50; ++i) sum += value * i;
}

int main(void) {
  for (unsigned long i = 0; i < 3000; ++i) work(2 * i);
  return 0;
}
