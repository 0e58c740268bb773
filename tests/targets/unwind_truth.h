#pragma once

/* What the unwinding targets know of their own stack: every function notes the address that it
 * will return to. A target shows it to its tracer by a breakpoint instruction with the address of
 * `truth` in the first argument's register; the tracer goes on behind it. */

struct Truth {
  unsigned long count;
  unsigned long returns[20000]; /* outermost first */
};
extern struct Truth truth;

#define ENTER() truth.returns[truth.count++] = (unsigned long)__builtin_return_address(0)
#define LEAVE() (--truth.count)

#if defined(__x86_64__)
#define SHOW() __asm__ volatile("int3" : : "D"(&truth) : "memory")
#else
#define SHOW()                                            \
  do {                                                    \
    register struct Truth* shown __asm__("x0") = &truth;  \
    __asm__ volatile("brk #0" : : "r"(shown) : "memory"); \
  } while (0)
#endif

/* Not to be inlined, and not to call last what would become a jump. */
#define FRAME __attribute__((noinline))
#define KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")
