// Switches in the shapes that compilers make tables for. Each case has a label, so that the symbols
// say where the tables lead.
#define LABEL(function, n) \
  __asm__ volatile(".globl case_" #function "_" #n "\ncase_" #function "_" #n ":\n nop")
#define CASE(function, n)        \
  case n:                        \
    LABEL(function, n);          \
    total += (n)*3 ^ (int)value; \
    break

volatile int g_total;

__attribute__((noinline)) int plain(unsigned value) {
  int total = 0;
  switch (value) {
    CASE(plain, 0);
    CASE(plain, 1);
    CASE(plain, 2);
    CASE(plain, 3);
    CASE(plain, 4);
    CASE(plain, 5);
    CASE(plain, 6);
    CASE(plain, 7);
    CASE(plain, 8);
    CASE(plain, 9);
    CASE(plain, 10);
    CASE(plain, 11);
    CASE(plain, 12);
    CASE(plain, 13);
    CASE(plain, 14);
    CASE(plain, 15);
    CASE(plain, 16);
    CASE(plain, 17);
    CASE(plain, 18);
    CASE(plain, 19);
    default:
      total = 9;
  }
  return total;
}

__attribute__((noinline)) int offset(int value) {
  int total = 0;
  switch (value) {
    CASE(offset, 100);
    CASE(offset, 101);
    CASE(offset, 102);
    CASE(offset, 103);
    CASE(offset, 104);
    CASE(offset, 106);
    CASE(offset, 107);
    CASE(offset, 109);
    default:
      total = 9;
  }
  return total;
}

__attribute__((noinline)) int bytes(const unsigned char* text) {
  int total = 0;
  for (; *text != 0; ++text) {
    const unsigned char value = *text;
    switch (value) {
      CASE(bytes, 97);
      CASE(bytes, 98);
      CASE(bytes, 99);
      CASE(bytes, 100);
      CASE(bytes, 101);
      CASE(bytes, 102);
      CASE(bytes, 104);
      CASE(bytes, 105);
      default:
        total += 9;
    }
    g_total += total;
  }
  return total;
}

__attribute__((noinline)) int wide(unsigned long long value) {
  int total = 0;
  switch (value) {
    CASE(wide, 10);
    CASE(wide, 11);
    CASE(wide, 12);
    CASE(wide, 13);
    CASE(wide, 14);
    CASE(wide, 15);
    CASE(wide, 16);
    default:
      total = 9;
  }
  return total;
}

__attribute__((noinline)) int masked(unsigned value) {
  int total = 0;
  switch (value & 7U) {
    CASE(masked, 0);
    CASE(masked, 1);
    CASE(masked, 2);
    CASE(masked, 3);
    CASE(masked, 4);
    CASE(masked, 5);
    CASE(masked, 6);
    CASE(masked, 7);
  }
  return total;
}

int main(int argc, char** argv) {
  const unsigned char* text = (const unsigned char*)argv[0];
  return plain((unsigned)argc) + offset(argc) + bytes(text) + wide((unsigned)argc) +
         masked((unsigned)argc);
}
