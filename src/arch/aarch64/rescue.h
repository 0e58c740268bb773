#pragma once

#include <elf.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "arch/aarch64/registers.h"

namespace sp::arch::aarch64 {

/// What this CPU adds to a remote call and to the handler of left-over breakpoints.
struct Rescue {
  static constexpr std::array<std::byte, 4> kSyscall = {std::byte{0x01}, std::byte{0x00},
                                                        std::byte{0x00}, std::byte{0xD4}};

  static constexpr std::size_t kRestorer = 44;  // within kHandler
  /// void handler(int, siginfo_t*, ucontext_t*): a thread that met a breakpoint stands on it still,
  /// so that returning is going back to it. Disarmed it lets a brk of the program's own have
  /// SIGTRAP's default action: it gives the signal that one back, and the brk comes once more.
  static constexpr auto kHandler = std::to_array<unsigned char>({
      0xC0, 0x03, 0x5F, 0xD6,  // ret
      0x29, 0x08, 0x40, 0xB9,  // ldr w9, [x1, #8]: si_code
      0x3F, 0x05, 0x00, 0x71,  // cmp w9, #TRAP_BRKPT
      0xE1, 0x00, 0x00, 0x54,  // b.ne out
      0xA0, 0x00, 0x80, 0xD2,  // mov x0, #SIGTRAP
      0x61, 0x03, 0x00, 0x10,  // adr x1, kDefaultAction of the page
      0x02, 0x00, 0x80, 0xD2,  // mov x2, #0
      0x03, 0x01, 0x80, 0xD2,  // mov x3, #8
      0xC8, 0x10, 0x80, 0xD2,  // mov x8, #__NR_rt_sigaction
      0x01, 0x00, 0x00, 0xD4,  // svc #0
      0xC0, 0x03, 0x5F, 0xD6,  // out: ret
      0x68, 0x11, 0x80, 0xD2,  // restorer: mov x8, #__NR_rt_sigreturn
      0x01, 0x00, 0x00, 0xD4,  // svc #0
  });
  /// Behind the actions: the pid of the superprofiler that it is of, 64 bits.
  static constexpr std::size_t kOwner = 96;
  /// And the guardian's number of the address space that it was made for, 64 bits.
  static constexpr std::size_t kSpace = 104;
  /// Its first bytes when no breakpoint is left: nop.
  static constexpr std::array<std::byte, 4> kDisarmed = {std::byte{0x1F}, std::byte{0x20},
                                                         std::byte{0x03}, std::byte{0xD5}};

  /// A call is a step over an instruction of the vdso's.
  static constexpr bool kCallsByStub = false;
  static void set_call(Registers& registers, std::uint64_t number,
                       const std::array<std::uint64_t, 6>& arguments) {
    registers.x[8] = number;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      registers.x[i] = arguments[i];
    }
  }
  static std::int64_t result(const Registers& registers) {
    return static_cast<std::int64_t>(registers.x[0]);
  }
  /// At a call's entry: the kernel makes none, and the thread sees that result. The number is in a
  /// register set of its own by then, where ~0 means none.
  static constexpr int kCallRegisters = NT_ARM_SYSTEM_CALL;
  static void skip_call(Registers& registers, std::int64_t result) {
    registers.x[0] = static_cast<std::uint64_t>(result);
  }
  struct Call {
    std::uint64_t number = 0;
    std::array<std::uint64_t, 6> arguments{};
  };
  /// That a thread is about to make, in front of its instruction.
  static Call next_call(const Registers& registers) {
    const auto& x = registers.x;
    return {x[8], {x[0], x[1], x[2], x[3], x[4], x[5]}};
  }
  /// It has made it, beside the program counter.
  static void finish_call(Registers& registers, std::int64_t result) {
    registers.x[0] = static_cast<std::uint64_t>(result);
  }
  static void set_second_argument(Registers& registers, std::uint64_t value) {
    registers.x[1] = value;
  }
};

}  // namespace sp::arch::aarch64
