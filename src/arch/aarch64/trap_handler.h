#pragma once

#include <elf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "arch/aarch64/registers.h"
#include "arch/aarch64/rescue_code.h"
#include "arch/aarch64/signal_frame.h"
#include "arch/aarch64/syscall.h"
#include "arch/restartable.h"
#include "core/address.h"

namespace sp::arch::aarch64 {

/// This CPU's part of the injected SIGTRAP handler and of remote system calls.
struct TrapHandler {
  static constexpr std::array<std::byte, 4> kSyscall = {std::byte{0x01}, std::byte{0x00},
                                                        std::byte{0x00}, std::byte{0xD4}};

  using Rescue = RescueCode;

  static void set_call(Registers& registers, std::uint64_t number,
                       const std::array<std::uint64_t, 6>& arguments) {
    registers.x[8] = number;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      registers.x[i] = arguments[i];
    }
    registers.pstate &= ~kBranchType;
  }
  static constexpr std::uint64_t kRestartCall = 128;  // restart_syscall
  /// For a thread in front of a system call instruction: true if it may be about to continue an
  /// interrupted call as kRestartCall, which calls with a timeout do (ERESTART_RESTARTBLOCK).
  static bool may_hide_restart(const Registers& registers) {
    constexpr std::uint64_t kFutex = 98;
    constexpr std::uint64_t kNanosleep = 101;
    constexpr std::uint64_t kClockNanosleep = 115;
    const auto& x = registers.x;
    return x[8] == kNanosleep || (x[8] == kClockNanosleep && x[1] == 0) ||
           (x[8] == kFutex && x[3] != 0);
  }
  /// For a thread in front of a system call instruction. The registers do not tell whether the call
  /// was interrupted, and the kernel forgets it once the thread has made another.
  static AfterHandler after_handler(const Registers& registers) {
    const auto& x = registers.x;
    const std::string_view name = syscall_name(static_cast<int>(x[8]));
    // With a mask of their own they are restarted, and find the signal pending.
    const bool is_poll = (name == "ppoll" && x[3] == 0) || (name == "pselect6" && x[5] == 0);
    if (x[8] == kRestartCall || may_hide_restart(registers) || is_poll) {
      return AfterHandler::ends;
    }
    return is_restartable_call(name) || name == "wait4" || name == "waitid" || name == "flock"
               ? AfterHandler::by_the_handler
               : AfterHandler::unknown;
  }
  /// A call ends streaming mode and keeps only the NEON part of the scalable registers.
  static constexpr int kStreaming = 0x40b;  // NT_ARM_SSVE, which <elf.h> has since glibc 2.37
  static constexpr std::array<int, 3> kVectorSets = {NT_PRFPREG, NT_ARM_SVE, kStreaming};
  static bool is_lost_in_call(int set, std::span<const std::byte> content) {
    return set != NT_PRFPREG && is_scalable(content);
  }
  /// A system-call trampoline, which a thread executes to its end without the tracer: code, and
  /// behind it a signal frame, by which rt_sigreturn restores all registers and the mask; scalable
  /// registers only if there is room. Empty if there is no such frame. `sets` are the thread's
  /// kVectorSets. See remote_syscall().
  static std::vector<std::byte> trampoline(const Registers& before, std::uint64_t mask,
                                           std::span<const std::vector<std::byte>> sets,
                                           std::size_t room) {
    auto frame = signal_frame(before, mask, sets[0], sets[1]);
    if (kTrampolineCode.size() + frame.size() > room) {
      frame = signal_frame(before, mask, sets[0], {});
    }
    if (frame.empty() || kTrampolineCode.size() + frame.size() > room) {
      return {};
    }
    std::vector<std::byte> trampoline(kTrampolineCode.size() + frame.size());
    std::memcpy(trampoline.data(), kTrampolineCode.data(), kTrampolineCode.size());
    std::memcpy(trampoline.data() + kTrampolineCode.size(), frame.data(), frame.size());
    return trampoline;
  }
  /// The size of a trampoline for vectors of 16 bytes; longer ones need more.
  static constexpr std::size_t kTrampolineSize = 1632;
  /// Recognises a trampoline that a killed superprofiler has left.
  static bool is_trampoline(std::span<const std::byte> there) {
    return there.size() >= kTrampolineCode.size() &&
           std::memcmp(there.data(), kTrampolineCode.data(), kTrampolineCode.size()) == 0;
  }
  static void skip_red_zone(Registers& /*registers*/) {}  // this CPU has none
  static std::int64_t result(const Registers& registers) {
    return static_cast<std::int64_t>(registers.x[0]);
  }
  static std::uint64_t first_argument(const Registers& registers) { return registers.x[0]; }
  /// At a call's entry: makes the kernel skip the call and return `result`. The number is in a
  /// register set of its own there, in which ~0 means none.
  static constexpr int kCallRegisters = NT_ARM_SYSTEM_CALL;
  static void skip_call(Registers& registers, std::int64_t result) {
    registers.x[0] = static_cast<std::uint64_t>(result);
  }
  struct Call {
    std::uint64_t number = 0;
    std::array<std::uint64_t, 6> arguments{};
  };
  /// The call that a thread in front of a system call instruction is about to make.
  static Call next_call(const Registers& registers) {
    const auto& x = registers.x;
    return {x[8], {x[0], x[1], x[2], x[3], x[4], x[5]}};
  }
  /// Sets the registers, but for the program counter, as after that call.
  static void finish_call(Registers& registers, std::int64_t result) {
    registers.x[0] = static_cast<std::uint64_t>(result);
  }
  static void set_first_argument(Registers& registers, std::uint64_t value) {
    registers.x[0] = value;
  }
  /// The call that a thread at the first instruction of syscall(3) is about to make.
  static Call call_of_function(const Registers& registers) {
    const auto& x = registers.x;
    return {x[0], {x[1], x[2], x[3], x[4], x[5], x[6]}};
  }
  static void set_function_arguments(Registers& registers, std::uint64_t first,
                                     std::uint64_t second, std::uint64_t third) {
    registers.x[1] = first;
    registers.x[2] = second;
    registers.x[3] = third;
  }
  static void set_second_argument(Registers& registers, std::uint64_t value) {
    registers.x[1] = value;
  }
  /// The call sets or tells the base of the segment in which copies count.
  static bool uses_counter_segment(const Call& /*call*/) { return false; }

 private:
  static constexpr std::uint64_t kBranchType = 3ULL << 10U;  // the svc is not a landing pad
  static constexpr auto kTrampolineCode = std::to_array<unsigned char>({
      0x01, 0x00, 0x00, 0xD4,  // svc #0
      0xE9, 0xFC, 0xFF, 0x10,  // adr x9, kSignalFrameAboveSp before the frame
      0x3F, 0x01, 0x00, 0x91,  // mov sp, x9
      0x68, 0x11, 0x80, 0xD2,  // mov x8, #__NR_rt_sigreturn
      0x01, 0x00, 0x00, 0xD4,  // svc #0
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  });
  static_assert(kTrampolineCode.size() == 32 && kSignalFrameAboveSp == 128);
};

}  // namespace sp::arch::aarch64
