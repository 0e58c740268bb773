// Behind each_round() there is data that decodes as a jump into the middle of one of its
// instructions, behind a call that is made from the 4,900th of 5,000 rounds on.
#include <stdio.h>

long each_round(long round);
__attribute__((noinline)) void helper(void) { __asm__ volatile(""); }

#if defined(__x86_64__)
__asm__(
    ".pushsection .text, \"ax\", @progbits\n"
    ".globl each_round\n"
    ".type each_round, @function\n"
    "each_round:\n"
    "  .cfi_startproc\n"
    "  cmp $4900, %rdi\n"
    "  jge 1f\n"
    "  lea 1(%rdi), %rax\n"
    "  ret\n"
    "1:\n"
    "  sub $8, %rsp\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  call helper\n"
    "  add $8, %rsp\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "in_the_middle:\n"
    "  mov $0x90909090, %eax\n"  // from its second byte on: four times nop
    "  shr $24, %eax\n"
    "  add %rdi, %rax\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size each_round, . - each_round\n"
    "  .byte 0xe9\n"
    "  .long in_the_middle + 1 - . - 4\n"
    ".popsection\n");
#else
__attribute__((noinline, noclone)) long each_round(long round) {
  if (round < 4900) return round + 1;
  helper();
  return round + 0x90;
}
#endif

int main(void) {
  long sum = 0;
  for (long i = 0; i < 5000; ++i) sum += each_round(i);
  printf("%ld\n", sum);
  return 0;
}
