#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "arch/native.h"
#include "arch/x86_64/registers.h"

namespace sp::supervisor {

/// What a CPU adds to a remote call and to the handler of left-over breakpoints; nothing where the
/// CPU has no such thing yet.
template <typename Registers>
struct RescueFor {
  static constexpr bool kAvailable = false;
};

template <>
struct RescueFor<arch::x86_64::Registers> {
  using Registers = arch::x86_64::Registers;
  static constexpr bool kAvailable = true;

  static constexpr std::array<std::byte, 2> kSyscall = {std::byte{0x0F}, std::byte{0x05}};

  static constexpr std::size_t kRestorer = 40;  // within kHandler
  /// void handler(int, siginfo_t*, ucontext_t*): a thread that met a breakpoint (SI_KERNEL) goes
  /// back to it. So it would wherever it stands, because the byte may be what it was by now; but
  /// where si_addr is set, only if it is there still (see ptrace::mark_trap()).
  static constexpr auto kHandler = std::to_array<unsigned char>({
      0x81, 0x7E, 0x08, 0x80, 0, 0, 0,  // cmpl $SI_KERNEL, 8(%rsi): si_code
      0x75, 0x1C,                       // jne out
      0x48, 0x8B, 0x82, 0xA8, 0, 0, 0,  // mov 0xa8(%rdx), %rax: the rip that was interrupted
      0x48, 0x8B, 0x4E, 0x10,           // mov 16(%rsi), %rcx: si_addr
      0x48, 0x85, 0xC9,                 // test %rcx, %rcx
      0x74, 0x05,                       // jz back
      0x48, 0x39, 0xC8,                 // cmp %rcx, %rax
      0x75, 0x07,                       // jne out
      0x48, 0xFF, 0x8A, 0xA8, 0, 0, 0,  // back: decq 0xa8(%rdx)
      0xC3,                             // out: ret
      0x90, 0x90,                       //
      0xB8, 0x0F, 0,    0,    0,        // restorer: mov $__NR_rt_sigreturn, %eax
      0x0F, 0x05,                       // syscall
  });
  /// Behind the code: the pid of the superprofiler that it is of, 64 bits.
  static constexpr std::size_t kOwner = 48;
  static constexpr std::byte kDisarmed{0xC3};  // its first byte when no breakpoint is left

  static void set_call(Registers& registers, std::uint64_t number,
                       const std::array<std::uint64_t, 6>& arguments) {
    registers.rax = number;
    registers.orig_rax = ~std::uint64_t{0};  // no call that could be made again
    registers.rdi = arguments[0];
    registers.rsi = arguments[1];
    registers.rdx = arguments[2];
    registers.r10 = arguments[3];
    registers.r8 = arguments[4];
    registers.r9 = arguments[5];
  }
  static std::int64_t result(const Registers& registers) {
    return static_cast<std::int64_t>(registers.rax);
  }
  static void set_second_argument(Registers& registers, std::uint64_t value) {
    registers.rsi = value;
  }
};

using NativeRescue = RescueFor<arch::Native::Registers>;

}  // namespace sp::supervisor
