#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "arch/restartable.h"
#include "arch/x86_64/registers.h"
#include "arch/x86_64/rescue_code.h"
#include "arch/x86_64/syscall.h"
#include "core/address.h"

namespace sp::arch::x86_64 {

/// This CPU's part of the injected SIGTRAP handler and of remote system calls.
struct TrapHandler {
  static constexpr std::array<std::byte, 2> kSyscall = {std::byte{0x0F}, std::byte{0x05}};

  using Rescue = RescueCode;

  static void set_call(Registers& registers, std::uint64_t number,
                       const std::array<std::uint64_t, 6>& arguments) {
    registers.rax = number;
    registers.orig_rax = ~std::uint64_t{0};  // no call that could be restarted
    registers.rdi = arguments[0];
    registers.rsi = arguments[1];
    registers.rdx = arguments[2];
    registers.r10 = arguments[3];
    registers.r8 = arguments[4];
    registers.r9 = arguments[5];
  }
  static constexpr std::uint64_t kRestartCall = 219;  // restart_syscall
  /// Always false: the registers show a call that is about to be restarted, see without_restart().
  static bool may_hide_restart(const Registers& /*registers*/) { return false; }
  /// Not needed: the kernel decides by the registers.
  static AfterHandler after_handler(const Registers& /*registers*/) {
    return AfterHandler::unknown;
  }
  /// A system call preserves all vector registers.
  static constexpr std::array<int, 0> kVectorSets = {};
  static bool is_lost_in_call(int /*set*/, std::span<const std::byte> /*content*/) { return false; }
  /// A system-call trampoline, which a thread executes to its end without the tracer: code, and
  /// behind it the state that the code restores, which is the signal mask and the registers that a
  /// call changes or needs. See remote_syscall().
  static constexpr std::size_t kTrampolineSize = 176;
  static std::vector<std::byte> trampoline(const Registers& before, std::uint64_t mask,
                                           std::span<const std::vector<std::byte>> /*sets*/,
                                           std::size_t room) {
    static_assert(kTrampolineCode.size() <= kTrampolineMask);
    if (room < kTrampolineSize) {
      return {};
    }
    const Registers to = without_restart(before);
    const std::array<std::uint64_t, 15> kept{mask,   to.rax, to.rcx,    to.rdx, to.rsi,
                                             to.rdi, to.r8,  to.r9,     to.r10, to.r11,
                                             to.rip, to.cs,  to.eflags, to.rsp, to.ss};
    static_assert(kTrampolineMask + sizeof kept == kTrampolineSize);
    std::vector<std::byte> trampoline(kTrampolineSize);
    std::memcpy(trampoline.data(), kTrampolineCode.data(), kTrampolineCode.size());
    std::memcpy(trampoline.data() + kTrampolineMask, kept.data(), sizeof kept);
    return trampoline;
  }
  /// Recognises a trampoline that a killed superprofiler has left.
  static bool is_trampoline(std::span<const std::byte> there) {
    return there.size() >= kTrampolineCode.size() &&
           std::memcmp(there.data(), kTrampolineCode.data(), kTrampolineCode.size()) == 0;
  }
  /// A signal that arrives once the mask is restored puts its frame on the thread's own stack.
  static void skip_red_zone(Registers& registers) { registers.rsp -= kRedZone; }
  static std::int64_t result(const Registers& registers) {
    return static_cast<std::int64_t>(registers.rax);
  }
  /// At a call's entry: makes the kernel skip the call and return `result`.
  static constexpr int kCallRegisters = 0;  // the call's number is an ordinary register
  static void skip_call(Registers& registers, std::int64_t result) {
    registers.orig_rax = ~std::uint64_t{0};
    registers.rax = static_cast<std::uint64_t>(result);
  }
  struct Call {
    std::uint64_t number = 0;
    std::array<std::uint64_t, 6> arguments{};
  };
  /// The call that a thread in front of a system call instruction is about to make.
  static Call next_call(const Registers& registers) {
    return {
        registers.rax,
        {registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9}};
  }
  /// Sets the registers, but for the program counter, as after that call.
  static void finish_call(Registers& registers, std::int64_t result) {
    registers.rax = static_cast<std::uint64_t>(result);
    registers.rcx = registers.rip + kSyscall.size();
    registers.r11 = registers.eflags;
  }
  static void set_first_argument(Registers& registers, std::uint64_t value) {
    registers.rdi = value;
  }
  /// The call that a thread at the first instruction of syscall(3) is about to make.
  static Call call_of_function(const Registers& registers) {
    return {registers.rdi,
            {registers.rsi, registers.rdx, registers.rcx, registers.r8, registers.r9, 0}};
  }
  static void set_function_arguments(Registers& registers, std::uint64_t first,
                                     std::uint64_t second, std::uint64_t third) {
    registers.rsi = first;
    registers.rdx = second;
    registers.rcx = third;
  }
  static void set_second_argument(Registers& registers, std::uint64_t value) {
    registers.rsi = value;
  }
  /// The call sets or tells the base of the segment in which copies count.
  static bool uses_counter_segment(const Call& call) {
    constexpr std::uint64_t kArchPrctl = 158;
    constexpr std::uint64_t kSetGs = 0x1001;
    constexpr std::uint64_t kGetGs = 0x1004;
    return call.number == kArchPrctl &&
           (call.arguments[0] == kSetGs || call.arguments[0] == kGetGs);
  }

 private:
  static constexpr std::size_t kTrampolineMask = 56;  // within a trampoline
  static constexpr auto kTrampolineCode = std::to_array<unsigned char>({
      0x0F, 0x05,                          // syscall
      0xB8, 0x0E, 0,    0,    0,           // mov $__NR_rt_sigprocmask, %eax
      0xBF, 0x02, 0,    0,    0,           // mov $SIG_SETMASK, %edi
      0x48, 0x8D, 0x35, 0x25, 0,    0, 0,  // lea mask(%rip), %rsi
      0x31, 0xD2,                          // xor %edx, %edx
      0x41, 0xBA, 0x08, 0,    0,    0,     // mov $8, %r10d
      0x0F, 0x05,                          // syscall
      0x48, 0x8D, 0x25, 0x1C, 0,    0, 0,  // lea registers(%rip), %rsp
      0x58, 0x59, 0x5A, 0x5E, 0x5F,        // pop %rax, %rcx, %rdx, %rsi, %rdi
      0x41, 0x58, 0x41, 0x59,              // pop %r8, %r9
      0x41, 0x5A, 0x41, 0x5B,              // pop %r10, %r11
      0x48, 0xCF,                          // iretq
  });

  /// The registers as the kernel would set them if the thread continued now.
  static Registers without_restart(Registers registers) {
    constexpr std::int64_t kByBlock = -516;  // ERESTART_RESTARTBLOCK
    if (x86_64::will_restart(registers)) {
      const bool by_block = result(registers) == kByBlock;
      registers.rax = by_block ? kRestartCall : registers.orig_rax;
      registers.rip -= kSyscall.size();
    }
    return registers;
  }
};

}  // namespace sp::arch::x86_64
