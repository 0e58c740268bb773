#pragma once

#include <array>
#include <cstddef>

namespace sp::arch::x86_64 {

/// What the injected SIGTRAP handler executes, void handler(int, siginfo_t*, ucontext_t*), and
/// where it expects what, in bytes from its beginning. It runs in threads that nobody traces: after
/// superprofiler was killed, or in a child that was made with CLONE_UNTRACED.
///
/// A thread that hit a breakpoint of ours goes back to it, where the guardian is about to restore
/// the original byte; from the 16,384th time on the handler restores all of them itself, through
/// /proc/self/mem or between two calls of mprotect, and sleeps for 1 ms where neither works. Any
/// other SIGTRAP is the program's own: ignored, or given the default action.
struct RescueCode {
  static constexpr std::size_t kOwner = 0x270;      // the pid of superprofiler, 64 bits
  static constexpr std::size_t kSpace = 0x278;      // the guardian's number of the address space
  static constexpr std::size_t kOurAction = 0x280;  // the kernel's struct sigaction, three times
  static constexpr std::size_t kProgramAction = 0x2a0;
  static constexpr std::size_t kDefaultAction = 0x2c0;
  static constexpr std::size_t kChanges = 0x2e0;  // of breakpoints, how many: 64 bits
  static constexpr std::size_t kCalls = 0x300;    // from here to the page's end: system calls
  static constexpr std::size_t kTries = 0x1f48;   // how often it was called, 32 bits
  static constexpr std::size_t kBreakpoints =
      0x2000;  // address, original bytes, 1 for a gate, 2: never restored; ..; 0
  static constexpr std::size_t kRestorer = 0x201;
  /// What stands at kDisarmedAt once all breakpoints are removed: a jump to "unknown". One byte is
  /// another one, so that no CPU executes it in part.
  static constexpr std::size_t kDisarmedAt = 0x34;
  static constexpr std::array<std::byte, 2> kDisarmed = {std::byte{0xEB}, std::byte{0x3E}};
  /// At kPatienceAt, kPatient makes threads wait in the handler until the guardian takes that back,
  /// and not at their breakpoints. Without system calls, for those could be forbidden by now. Who
  /// has waited for seconds goes on to "rescue".
  static constexpr std::size_t kPatienceAt = 0x61;
  static constexpr std::array<std::byte, 2> kPatient = {std::byte{0xEB}, std::byte{0x67}};
  static constexpr std::array<std::byte, 2> kImpatient = {std::byte{0xEB}, std::byte{0x00}};
  static constexpr auto kCode = std::to_array<unsigned char>({
      0x8B, 0x46, 0x08,                          // mov 8(%rsi), %eax; si_code
      0x3D, 0x80, 0x00, 0x00, 0x00,              // cmp $0x80, %eax; SI_KERNEL
      0x75, 0x7A,                                // jne sent
      0x48, 0x8B, 0x82, 0xA8, 0x00, 0x00, 0x00,  // mov 0xa8(%rdx), %rax; rip
      0x48, 0x8B, 0x4E, 0x10,                    // mov 16(%rsi), %rcx; si_addr, see mark_trap
      0x48, 0x85, 0xC9,                          // test %rcx, %rcx
      0x74, 0x17,                                // jz here
      0x48, 0x39, 0xC8,                          // cmp %rcx, %rax
      0x75, 0x61,                                // jne out
      0x48, 0x8B, 0x4E, 0x18,                    // mov 24(%rsi), %rcx; its sp then
      0x48, 0x85, 0xC9,                          // test %rcx, %rcx
      0x74, 0x09,                                // jz here
      0x48, 0x39, 0x8A, 0xA0, 0x00, 0x00, 0x00,  // cmp %rcx, 0xa0(%rdx)
      0x75, 0x4F,                                // jne out
      0x48, 0xFF, 0xC8,                          // here: dec %rax
      0xEB, 0x00,                                // jmp next; kDisarmedAt: jmp unknown
      0x4C, 0x8D, 0x05, 0xC3, 0x1F, 0x00, 0x00,  // lea handler+LIST(%rip), %r8
      0x49, 0x8B, 0x08,                          // find: mov (%r8), %rcx
      0x48, 0x85, 0xC9,                          // test %rcx, %rcx
      0x74, 0x2F,                                // jz unknown
      0x49, 0x83, 0xC0, 0x10,                    // add $16, %r8
      0x48, 0x39, 0xC1,                          // cmp %rax, %rcx
      0x75, 0xEF,                                // jne find
      0x48, 0x89, 0x82, 0xA8, 0x00, 0x00, 0x00,  // mov %rax, 0xa8(%rdx); back to the instruction
      0x80, 0x38, 0xCC,                          // cmpb $0xCC, (%rax)
      0x75, 0x26,                                // jne out; which is restored
      0xF0, 0xFF, 0x05, 0xE7, 0x1E, 0x00, 0x00,  // lock incl handler+TRIES(%rip)
      0xEB, 0x00,                                // jmp next; kPatienceAt: jmp wait
      0x81, 0x3D, 0xDB, 0x1E, 0x00, 0x00, 0x00, 0x40, 0x00,
      0x00,                                            // cmpl $0x4000, handler+TRIES(%rip)
      0x72, 0x11,                                      // jb out
      0xE9, 0x8C, 0x00, 0x00, 0x00,                    // jmp rescue
      0x80, 0x38, 0xCC,                                // unknown: cmpb $0xCC, (%rax)
      0x74, 0x08,                                      // je own
      0x48, 0x89, 0x82, 0xA8, 0x00, 0x00, 0x00,        // mov %rax, 0xa8(%rdx)
      0xC3,                                            // out: ret
      0x8B, 0x46, 0x08,                                // own: mov 8(%rsi), %eax
      0x85, 0xC0,                                      // sent: test %eax, %eax
      0x7E, 0x14,                                      // jle by_user
      0x3D, 0x80, 0x00, 0x00, 0x00,                    // cmp $0x80, %eax
      0x75, 0xF1,                                      // jne out; the end of a step
      0xE8, 0x4E, 0x00, 0x00, 0x00,                    // call reset
      0x48, 0xFF, 0x8A, 0xA8, 0x00, 0x00, 0x00,        // decq 0xa8(%rdx); int3 traps once more
      0xC3,                                            // ret
      0x48, 0x83, 0x3D, 0xFC, 0x01, 0x00, 0x00, 0x01,  // by_user: cmpq $1, handler+PROGRAM(%rip);
      0x74, 0xDA,                                      // je out
      0xE8, 0x37, 0x00, 0x00, 0x00,                    // call reset
      0xB8, 0x27, 0x00, 0x00, 0x00,                    // mov $39, %eax; getpid
      0x0F, 0x05,                                      // syscall
      0x89, 0xC7,                                      // mov %eax, %edi
      0xB8, 0xBA, 0x00, 0x00, 0x00,                    // mov $186, %eax; gettid
      0x0F, 0x05,                                      // syscall
      0x89, 0xC6,                                      // mov %eax, %esi
      0xBA, 0x05, 0x00, 0x00, 0x00,                    // mov $5, %edx
      0xB8, 0xEA, 0x00, 0x00, 0x00,                    // mov $234, %eax; tgkill
      0x0F, 0x05,                                      // syscall
      0xC3,                                            // ret
      0x41, 0xB8, 0x00, 0xE1, 0xF5,
      0x05,        // wait: mov $100000000, %r8d; half a second to some seconds
      0xF3, 0x90,  // again: pause
      0x80, 0x3D, 0x89, 0xFF, 0xFF, 0xFF, 0x00,  // cmpb $0, handler+PATIENCE+1(%rip)
      0x74, 0xA5,                                // je out
      0x41, 0xFF, 0xC8,                          // dec %r8d
      0x75, 0xF0,                                // jnz again
      0xEB, 0x1E,                                // jmp rescue; the guardian is gone
      0x52,                                      // reset: push %rdx
      0xB8, 0x0D, 0x00, 0x00, 0x00,              // mov $13, %eax
      0xBF, 0x05, 0x00, 0x00, 0x00,              // mov $5, %edi
      0x48, 0x8D, 0x35, 0xCC, 0x01, 0x00, 0x00,  // lea handler+DEFAULT(%rip), %rsi
      0x31, 0xD2,                                // xor %edx, %edx
      0x41, 0xBA, 0x08, 0x00, 0x00, 0x00,        // mov $8, %r10d
      0x0F, 0x05,                                // syscall
      0x5A,                                      // pop %rdx
      0xC3,                                      // ret
      0x49, 0x89, 0xC7,                          // rescue: mov %rax, %r15
      0xB8, 0x01, 0x01, 0x00, 0x00,              // mov $257, %eax; openat
      0xBF, 0x9C, 0xFF, 0xFF, 0xFF,              // mov $-100, %edi
      0x48, 0x8D, 0x35, 0xDC, 0x00, 0x00, 0x00,  // lea path(%rip), %rsi
      0xBA, 0x02, 0x00, 0x08, 0x00,              // mov $0x80002, %edx; O_RDWR | O_CLOEXEC
      0x45, 0x31, 0xD2,                          // xor %r10d, %r10d
      0x0F, 0x05,                                // syscall
      0x89, 0xC3,                                // mov %eax, %ebx
      0x31, 0xED,                                // xor %ebp, %ebp; first all but the gates
      0x4C, 0x8D, 0x25, 0xD7, 0x1E, 0x00, 0x00,  // pass: lea handler+LIST(%rip), %r12
      0x4D, 0x8B, 0x2C, 0x24,                    // each: mov (%r12), %r13
      0x4D, 0x85, 0xED,                          // test %r13, %r13
      0x74, 0x71,                                // jz next_pass
      0x4D, 0x8D, 0x74, 0x24, 0x08,              // lea 8(%r12), %r14
      0x49, 0x83, 0xC4, 0x10,                    // add $16, %r12
      0x41, 0x3B, 0x6E, 0x04,                    // cmp 4(%r14), %ebp
      0x75, 0xE8,                                // jne each
      0x85, 0xDB,                                // test %ebx, %ebx
      0x78, 0x36,                                // js by_mprotect
      0x50,                                      // push %rax
      0x89, 0xDF,                                // mov %ebx, %edi
      0x48, 0x89, 0xE6,                          // mov %rsp, %rsi
      0xBA, 0x01, 0x00, 0x00, 0x00,              // mov $1, %edx
      0x4D, 0x89, 0xEA,                          // mov %r13, %r10
      0xB8, 0x11, 0x00, 0x00, 0x00,              // mov $17, %eax; pread64
      0x0F, 0x05,                                // syscall
      0x59,                                      // pop %rcx
      0x83, 0xF8, 0x01,                          // cmp $1, %eax
      0x75, 0xC9,                                // jne each
      0x80, 0xF9, 0xCC,                          // cmp $0xCC, %cl
      0x75, 0xC4,                                // jne each
      0x89, 0xDF,                                // mov %ebx, %edi
      0x4C, 0x89, 0xF6,                          // mov %r14, %rsi
      0xBA, 0x01, 0x00, 0x00, 0x00,              // mov $1, %edx
      0x4D, 0x89, 0xEA,                          // mov %r13, %r10
      0xB8, 0x12, 0x00, 0x00, 0x00,              // mov $18, %eax; pwrite64
      0x0F, 0x05,                                // syscall
      0xEB, 0xAE,                                // jmp each
      0xBA, 0x07, 0x00, 0x00, 0x00,              // by_mprotect: mov $7, %edx
      0xE8, 0x54, 0x00, 0x00, 0x00,              // call protect
      0x85, 0xC0,                                // test %eax, %eax
      0x75, 0xA0,                                // jnz each
      0x41, 0x80, 0x7D, 0x00, 0xCC,              // cmpb $0xCC, (%r13)
      0x75, 0x07,                                // jne restored
      0x41, 0x8A, 0x06,                          // mov (%r14), %al
      0x41, 0x88, 0x45, 0x00,                    // mov %al, (%r13)
      0xBA, 0x05, 0x00, 0x00, 0x00,              // restored: mov $5, %edx
      0xE8, 0x38, 0x00, 0x00, 0x00,              // call protect
      0xEB, 0x86,                                // jmp each
      0xFF, 0xC5,                                // next_pass: inc %ebp
      0x83, 0xFD, 0x02,                          // cmp $2, %ebp
      0x0F, 0x82, 0x74, 0xFF, 0xFF, 0xFF,        // jb pass
      0x85, 0xDB,                                // test %ebx, %ebx
      0x78, 0x09,                                // js check
      0x89, 0xDF,                                // mov %ebx, %edi
      0xB8, 0x03, 0x00, 0x00, 0x00,              // mov $3, %eax; close
      0x0F, 0x05,                                // syscall
      0x41, 0x80, 0x3F, 0xCC,                    // check: cmpb $0xCC, (%r15)
      0x75, 0x17,                                // jne end
      0x68, 0x40, 0x42, 0x0F, 0x00,              // pushq $1000000; 1 ms until the next try
      0x6A, 0x00,                                // pushq $0
      0x48, 0x89, 0xE7,                          // mov %rsp, %rdi
      0x31, 0xF6,                                // xor %esi, %esi
      0xB8, 0x23, 0x00, 0x00, 0x00,              // mov $35, %eax; nanosleep
      0x0F, 0x05,                                // syscall
      0x48, 0x83, 0xC4, 0x10,                    // add $16, %rsp
      0xC3,                                      // end: ret
      0x4C, 0x89, 0xEF,                          // protect: mov %r13, %rdi
      0x48, 0x81, 0xE7, 0x00, 0xF0, 0xFF, 0xFF,  // and $-4096, %rdi
      0xBE, 0x00, 0x10, 0x00, 0x00,              // mov $4096, %esi
      0xB8, 0x0A, 0x00, 0x00, 0x00,              // mov $10, %eax; mprotect
      0x0F, 0x05,                                // syscall
      0xC3,                                      // ret
                                                 //
      0x2F, 0x70, 0x72, 0x6F, 0x63, 0x2F, 0x73, 0x65, 0x6C, 0x66, 0x2F, 0x6D, 0x65, 0x6D, 0x00,
      0x66, 0x90,                    // "/proc/self/mem"
      0xB8, 0x0F, 0x00, 0x00, 0x00,  // restorer: mov $15, %eax
      0x0F, 0x05,                    // syscall
  });
};

}  // namespace sp::arch::x86_64
