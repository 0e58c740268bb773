// Functions that run from copies in the test's own process: run_copies.cpp. Each subject takes a
// seed and returns a number that depends on all that it did.
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static uint64_t next_random(uint64_t* state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return *state >> 33;
}

// Leaf code in the red zone, with flags from one instruction to the next.
static NOINLINE uint64_t mix(const uint32_t* values, int count) {
  uint32_t kept[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int i = 0; i < count; ++i) {
    kept[values[i] & 7] += values[i] ^ (kept[(values[i] >> 3) & 7] << 1);
    if ((values[i] & 0x30) == 0x10) {
      kept[i & 7] -= (uint32_t)i;
    } else if (values[i] > kept[(i + 1) & 7]) {
      kept[0] ^= values[i];
    }
  }
  uint64_t sum = 0;
  for (int i = 0; i < 8; ++i) {
    sum = sum * 31 + kept[i];
  }
  return sum;
}

static uint64_t leaf(uint64_t seed) {
  uint32_t values[64];
  for (int i = 0; i < 64; ++i) {
    values[i] = (uint32_t)next_random(&seed);
  }
  return mix(values, (int)(seed & 63));
}

static NOINLINE uint64_t fibonacci(unsigned n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static uint64_t recursion(uint64_t seed) { return fibonacci(5 + (unsigned)(seed & 7)); }

static NOINLINE uint64_t even(uint64_t n);
static NOINLINE uint64_t odd(uint64_t n) { return n == 0 ? 3 : even(n - 1); }
static NOINLINE uint64_t even(uint64_t n) { return n == 0 ? 7 : odd(n - 1); }
static uint64_t tail_calls(uint64_t seed) { return even(seed & 127); }

static NOINLINE uint64_t machine(const uint8_t* code, int count, uint64_t value) {
  uint64_t other = 5;
  for (int at = 0; at < count; ++at) {
    switch (code[at]) {
      case 0:
        value += other;
        break;
      case 1:
        value ^= value << 7;
        break;
      case 2:
        other = value & 0xFF;
        break;
      case 3:
        value -= 3;
        break;
      case 4:
        if (value & 1) {
          at += 1;
        }
        break;
      case 5:
        value = (value >> 3) | (value << 61);
        break;
      case 6:
        value *= 17;
        break;
      case 7:
        value = ~value;
        break;
      case 8:
        other += (uint64_t)at;
        break;
      case 9:
        if (at > 10 && (value & 7) == 0) {
          return value;
        }
        break;
      default:
        value += code[at];
        break;
    }
  }
  return value + other;
}

static uint64_t switches(uint64_t seed) {
  uint8_t code[100];
  for (int i = 0; i < 100; ++i) {
    code[i] = (uint8_t)(next_random(&seed) % 12);
  }
  return machine(code, 100, seed);
}

// As interpreters are written: the next instruction's place is loaded early.
static uint64_t threaded(uint64_t seed) {
  static const void* const kOps[] = {&&add, &&shift, &&flip, &&skip, &&mix, &&add, &&flip, &&end};
  uint8_t code[64];
  for (int i = 0; i < 64; ++i) {
    code[i] = (uint8_t)((seed >> (i % 23)) ^ (uint64_t)(i * 5)) & 7U;
  }
  code[63] = 7;
  const uint8_t* at = code;
  uint64_t value = seed;
  uint64_t skipped = 0;
  const void* next = kOps[*at++ & 7U];
  value ^= seed << 9;
  goto* next;
add:
  next = kOps[*at++ & 7U];
  value += seed * 3;
  value ^= skipped << 2;
  goto* next;
shift:
  next = kOps[*at++ & 7U];
  value = (value << 7) | (value >> 57);
  skipped += value & 3U;
  goto* next;
flip:
  goto* kOps[(value ^= ~(uint64_t)0, *at++ & 7U)];
skip:
  skipped += 1;
  at += at < code + 60;
  next = kOps[*at++ & 7U];
  value += skipped;
  goto* next;
mix:
  value *= 0x9E3779B97F4A7C15U;
  goto* kOps[*at++ & 7U];
end:
  return value + skipped + (uint64_t)(at - code);
}

// Jumps that no table of the compiler's shows.
static uint64_t computed_gotos(uint64_t seed) {
  static const void* const kLabels[] = {&&add, &&shift, &&twist, &&end};
  uint64_t value = seed;
  int steps = 0;
  goto* kLabels[seed & 3];
add:
  value += 12345;
  goto* kLabels[(value >> 7) & 3];
shift:
  value ^= value >> 5;
  if (++steps > 50) {
    return value;
  }
  goto* kLabels[(value >> 3) % 3];
twist:
  value = value * 5 + 1;
  goto* kLabels[(value >> 9) & 3];
end:
  return value + (uint64_t)steps;
}

static int compare(const void* left, const void* right) {
  const uint32_t a = *(const uint32_t*)left;
  const uint32_t b = *(const uint32_t*)right;
  return a < b ? -1 : a > b;
}

static uint64_t callbacks(uint64_t seed) {
  uint32_t values[40];
  for (int i = 0; i < 40; ++i) {
    values[i] = (uint32_t)next_random(&seed) & 0xFF;
  }
  qsort(values, 40, sizeof(values[0]), compare);
  uint64_t sum = 0;
  for (int i = 0; i < 40; ++i) {
    sum = sum * 257 + values[i];
  }
  return sum;
}

static NOINLINE void sort_by_hand(uint32_t* values, int low, int high,
                                  int (*less)(uint32_t, uint32_t)) {
  while (low < high) {
    int left = low;
    int right = high;
    const uint32_t middle = values[(low + high) / 2];
    while (left <= right) {
      while (less(values[left], middle)) {
        ++left;
      }
      while (less(middle, values[right])) {
        --right;
      }
      if (left <= right) {
        const uint32_t kept = values[left];
        values[left++] = values[right];
        values[right--] = kept;
      }
    }
    if (right - low < high - left) {
      sort_by_hand(values, low, right, less);
      low = left;
    } else {
      sort_by_hand(values, left, high, less);
      high = right;
    }
  }
}

static NOINLINE int smaller(uint32_t a, uint32_t b) { return a < b; }
static NOINLINE int larger(uint32_t a, uint32_t b) { return a > b; }

static uint64_t sorts(uint64_t seed) {
  uint32_t values[50];
  for (int i = 0; i < 50; ++i) {
    values[i] = (uint32_t)next_random(&seed);
  }
  sort_by_hand(values, 0, 49, (seed & 1) ? smaller : larger);
  uint64_t sum = 0;
  for (int i = 0; i < 50; ++i) {
    sum = (sum << 1) ^ values[i];
  }
  return sum;
}

// Carries that live across instructions, set and read by assembly.
static uint64_t carries(uint64_t seed) {
  uint64_t number[4] = {seed, ~seed, seed * 3, seed * 7};
  const uint64_t addend[4] = {~0ULL, seed, ~0ULL, 1};
  uint64_t carry = 0;
  for (int round = 0; round < 5; ++round) {
    const uint64_t* from = addend;
    uint64_t* to = number;
    uint64_t count = 4;
    __asm__ volatile(
        "clc\n"
        "1: movq (%0), %%rax\n"
        "adcq %%rax, (%1)\n"
        "leaq 8(%0), %0\n"
        "leaq 8(%1), %1\n"
        "decq %2\n"
        "jnz 1b\n"
        "setc %b2\n"
        : "+r"(from), "+r"(to), "+q"(count)
        :
        : "rax", "memory", "cc");
    carry += count & 0xFF;
  }
  return number[0] ^ number[1] ^ number[2] ^ number[3] ^ carry;
}

// Branches that have short forms only.
static uint64_t short_branches(uint64_t seed) {
  uint64_t count = seed & 31;
  uint64_t value = seed;
  __asm__ volatile(
      "jrcxz 2f\n"
      "1: addq $3, %1\n"
      "rorq $5, %1\n"
      "loop 1b\n"
      "2: movl $9, %%ecx\n"
      "3: addq %%rcx, %1\n"
      "testq $64, %1\n"
      "loopne 3b\n"
      "addq %%rcx, %1\n"
      : "+c"(count), "+r"(value)
      :
      : "cc");
  return value;
}

static uint64_t strings(uint64_t seed) {
  char text[200];
  char other[200];
  const size_t size = seed % 150;
  memset(text, (int)('a' + seed % 26), size);
  text[size] = 0;
  uint64_t count = size + 1;
  char* to = other;
  const char* from = text;
  __asm__ volatile("rep movsb" : "+c"(count), "+D"(to), "+S"(from) : : "memory");
  to = other;
  count = sizeof(other);
  __asm__ volatile("repne scasb" : "+c"(count), "+D"(to) : "a"(0) : "memory", "cc");
  return strlen(other) * 3 + count + (uint64_t)strcmp(text, other);
}

static jmp_buf way_out;
static NOINLINE void leave(int value) {
  if (value > 2) {
    longjmp(way_out, value);
  }
}
static uint64_t long_jumps(uint64_t seed) {
  volatile uint64_t sum = 1;
  const int value = setjmp(way_out);
  if (value < 6) {
    sum = sum * 3 + (uint64_t)value;
    leave(value + 1 + (int)(seed & 1));
    leave(value + 3);
    sum += 1000;
  }
  return sum;
}

static uint64_t system_calls(uint64_t seed) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < (seed & 7); ++i) {
    long result = 186;  // gettid
    __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
    sum += result > 0;
    long refused = 3;  // close(-1)
    __asm__ volatile("syscall" : "+a"(refused) : "D"(-1L) : "rcx", "r11", "memory");
    sum += (uint64_t)refused & 0xFF;
  }
  return sum;
}

static NOINLINE double series(double x, int terms) {
  double sum = 0;
  double power = 1;
  for (int i = 1; i <= terms; ++i) {
    power *= x / i;
    if (power < 1e-9) {
      break;
    }
    sum += (i & 1) ? power : -power;
  }
  return sum;
}
static uint64_t floats(uint64_t seed) {
  const double sum = series((double)(seed % 1000) / 300.0, 40);
  uint64_t bits = 0;
  memcpy(&bits, &sum, sizeof(bits));
  return bits;
}

// A call is the first instruction of a block, and follows another one at once.
static NOINLINE uint64_t step(uint64_t value) { return value * 3 + 1; }
static uint64_t adjacent_calls(uint64_t seed) {
  uint64_t value = seed;
  uint64_t count = 1 + (seed & 3);
  __asm__ volatile(
      "leaq -128(%%rsp), %%rsp\n"
      "1: call *%[step]\n"
      "2: call 3f\n"
      "jmp 4f\n"
      "3: movq %%rax, %%rdi\n"
      "ret\n"
      "4: movq %%rdi, %[value]\n"
      "decq %[count]\n"
      "jnz 1b\n"
      "leaq 128(%%rsp), %%rsp\n"
      : [value] "+D"(value), [count] "+r"(count)
      : [step] "b"(step)
      : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
  return value;
}

struct subject {
  const char* name;
  uint64_t (*run)(uint64_t);
};

__attribute__((visibility("default"))) const struct subject copy_subjects[] = {
    {"leaf", leaf},
    {"recursion", recursion},
    {"tail_calls", tail_calls},
    {"switches", switches},
    {"threaded", threaded},
    {"computed_gotos", computed_gotos},
    {"callbacks", callbacks},
    {"sorts", sorts},
    {"carries", carries},
    {"short_branches", short_branches},
    {"strings", strings},
    {"long_jumps", long_jumps},
    {"system_calls", system_calls},
    {"floats", floats},
    {"adjacent_calls", adjacent_calls},
    {NULL, NULL},
};
