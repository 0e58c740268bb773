// Fills its registers, spins without a system call, and looks whether they are still as they were,
// until its standard input ends. Then prints "right". keeps_registers [scalable]: SVE's registers,
// where the CPU has them, else the others.
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef __aarch64__
#include <sys/auxv.h>
#endif

enum { kFlags = 31 };

struct Registers {
  uint64_t general[32];  // the last is the flags
  unsigned char vector[32 * 256 + 17 * 32];
};

void spin_with(const struct Registers* in, struct Registers* out, uint64_t rounds);

#ifdef __x86_64__
// rcx counts: `loop` leaves the flags alone. rsp is what it is.
__asm__(
    ".text\n.globl spin_with\nspin_with:\n"
    "push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\npush %rsi\n"
    "mov %rdx, %rcx\n"
    ".set i, 0\n.rept 16\n.altmacro\n"
    ".macro vector_in n\nmovups 256+16*\\n(%rdi), %xmm\\n\n.endm\nvector_in %i\n"
    ".purgem vector_in\n.noaltmacro\n.set i, i+1\n.endr\n"
    "push 248(%rdi)\npopf\n"
    "mov 0(%rdi), %rax\nmov 16(%rdi), %rdx\nmov 24(%rdi), %rbx\nmov 40(%rdi), %rbp\n"
    "mov 48(%rdi), %rsi\nmov 64(%rdi), %r8\nmov 72(%rdi), %r9\nmov 80(%rdi), %r10\n"
    "mov 88(%rdi), %r11\nmov 96(%rdi), %r12\nmov 104(%rdi), %r13\nmov 112(%rdi), %r14\n"
    "mov 120(%rdi), %r15\nmov 56(%rdi), %rdi\n"
    "1: loop 1b\n"
    "pushf\npush %rax\nmov 16(%rsp), %rax\n"
    "pop 0(%rax)\npop 248(%rax)\n"
    "mov %rcx, 8(%rax)\nmov %rdx, 16(%rax)\nmov %rbx, 24(%rax)\nmov %rbp, 40(%rax)\n"
    "mov %rsi, 48(%rax)\nmov %rdi, 56(%rax)\nmov %r8, 64(%rax)\nmov %r9, 72(%rax)\n"
    "mov %r10, 80(%rax)\nmov %r11, 88(%rax)\nmov %r12, 96(%rax)\nmov %r13, 104(%rax)\n"
    "mov %r14, 112(%rax)\nmov %r15, 120(%rax)\n"
    ".set i, 0\n.rept 16\n.altmacro\n"
    ".macro vector_out n\nmovups %xmm\\n, 256+16*\\n(%rax)\n.endm\nvector_out %i\n"
    ".purgem vector_out\n.noaltmacro\n.set i, i+1\n.endr\n"
    "pop %rsi\npop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n");
static const int kUnused[] = {1, 4};  // the counter, rsp
static const int kGeneral = 16;
static const size_t kVector = 256;
static const uint64_t kFlagBits = 0x8d5;
static int has_scalable(void) { return 0; }
#else
#define SAVE                                                                       \
  "stp x29, x30, [sp, #-176]!\nstp x19, x20, [sp, #16]\nstp x21, x22, [sp, #32]\n" \
  "stp x23, x24, [sp, #48]\nstp x25, x26, [sp, #64]\nstp x27, x28, [sp, #80]\n"    \
  "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\n"    \
  "stp d14, d15, [sp, #144]\nstr x1, [sp, #160]\nmov x28, x2\n"
// x28 counts.
#define SPIN                                                                          \
  "ldr x1, [x0, #248]\nmsr nzcv, x1\n"                                                \
  "ldp x2, x3, [x0, #16]\nldp x4, x5, [x0, #32]\nldp x6, x7, [x0, #48]\n"             \
  "ldp x8, x9, [x0, #64]\nldp x10, x11, [x0, #80]\nldp x12, x13, [x0, #96]\n"         \
  "ldp x14, x15, [x0, #112]\nldp x16, x17, [x0, #128]\nldp x18, x19, [x0, #144]\n"    \
  "ldp x20, x21, [x0, #160]\nldp x22, x23, [x0, #176]\nldp x24, x25, [x0, #192]\n"    \
  "ldp x26, x27, [x0, #208]\nldp x29, x30, [x0, #232]\nldp x0, x1, [x0]\n"            \
  "1: sub x28, x28, #1\ncbnz x28, 1b\n"                                               \
  "ldr x28, [sp, #160]\n"                                                             \
  "stp x0, x1, [x28]\nstp x2, x3, [x28, #16]\nstp x4, x5, [x28, #32]\n"               \
  "stp x6, x7, [x28, #48]\nstp x8, x9, [x28, #64]\nstp x10, x11, [x28, #80]\n"        \
  "stp x12, x13, [x28, #96]\nstp x14, x15, [x28, #112]\nstp x16, x17, [x28, #128]\n"  \
  "stp x18, x19, [x28, #144]\nstp x20, x21, [x28, #160]\nstp x22, x23, [x28, #176]\n" \
  "stp x24, x25, [x28, #192]\nstp x26, x27, [x28, #208]\nstp x29, x30, [x28, #232]\n" \
  "mrs x0, nzcv\nstr x0, [x28, #248]\n"
#define RESTORE                                                                    \
  "ldp x19, x20, [sp, #16]\nldp x21, x22, [sp, #32]\nldp x23, x24, [sp, #48]\n"    \
  "ldp x25, x26, [sp, #64]\nldp x27, x28, [sp, #80]\nldp d8, d9, [sp, #96]\n"      \
  "ldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n" \
  "ldp x29, x30, [sp], #176\nret\n"
#define EACH(count, what)                                        \
  ".set i, 0\n.rept " #count "\n.altmacro\n.macro each n\n" what \
  "\n.endm\neach %i\n.purgem each\n.noaltmacro\n.set i, i+1\n.endr\n"
__asm__(".text\n.globl spin_with\n.type spin_with, %function\nspin_with:\n" SAVE EACH(
    32, "ldr q\\n, [x0, #256+16*\\n]") SPIN EACH(32, "str q\\n, [x28, #256+16*\\n]") RESTORE);
void spin_with_scalable(const struct Registers* in, struct Registers* out, uint64_t rounds);
__asm__(
    ".arch_extension sve\n"
    ".globl spin_with_scalable\n.type spin_with_scalable, %function\nspin_with_scalable:\n" SAVE
    "add x3, x0, #256\nadd x4, x3, #8192\n" EACH(32, "ldr z\\n, [x3, #\\n, mul vl]")
        EACH(16, "ldr p\\n, [x4, #\\n, mul vl]") SPIN
    "add x3, x28, #256\nadd x4, x3, #8192\n" EACH(32, "str z\\n, [x3, #\\n, mul vl]")
        EACH(16, "str p\\n, [x4, #\\n, mul vl]") RESTORE);
static const int kUnused[] = {28, 28};  // the counter
static const int kGeneral = 31;
static const size_t kVector = 512;
static const uint64_t kFlagBits = 0xf0000000;
static int has_scalable(void) { return (getauxval(AT_HWCAP) & (1UL << 22)) != 0; }
#endif

static struct Registers in, out;

int main(int argc, char** argv) {
  const int scalable = argc > 1 && strcmp(argv[1], "scalable") == 0 && has_scalable();
  const size_t vector = scalable ? sizeof in.vector : kVector;
  for (int i = 0; i < kGeneral; ++i) {
    in.general[i] = 0x0101010101010101u * (uint64_t)(i + 1) ^ 0x5a00a5ff00ffa55au;
  }
  in.general[kUnused[0]] = in.general[kUnused[1]] = 0;
  in.general[kFlags] = kFlagBits & 0xa0000041;
  for (size_t i = 0; i < vector; ++i) {
    in.vector[i] = (unsigned char)(i * 37 + 11);
  }
  puts("ready");
  fflush(stdout);
  struct pollfd input = {.fd = 0, .events = POLLIN};
  do {
    memset(&out, 0, sizeof out);
#ifdef __aarch64__
    if (scalable) {
      // What is longer than this CPU's vectors is not touched.
      memcpy(out.vector, in.vector, sizeof out.vector);
      spin_with_scalable(&in, &out, 500000);
    } else
#endif
      spin_with(&in, &out, 500000);
    out.general[kFlags] &= kFlagBits;
    for (int i = 0; i < 32; ++i) {
      if (in.general[i] != out.general[i]) {
        printf("register %d: %lx, not %lx\n", i, out.general[i], in.general[i]);
        return 1;
      }
    }
    if (memcmp(in.vector, out.vector, vector) != 0) {
      puts("another vector");
      return 1;
    }
  } while (poll(&input, 1, 0) == 0);
  puts("right");
  return 0;
}
