#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "arch/x86_64/registers.h"
#include "arch/x86_64/trap_handler.h"
#include "core/address.h"

namespace sp::arch::x86_64 {

/// This CPU's part of making the rest of a transfer: code in the target that makes one or two
/// system calls, adds up their results, and goes on behind the call that was cut short with all
/// registers, flags included, as that call would have left them. It needs neither the tracer nor a
/// stack.
struct TransferStub {
  using Call = TrapHandler::Call;

  static constexpr bool kIsAvailable = true;

  /// rbx is the slot, rbp the sum. No instruction changes the flags.
  static constexpr auto kCode = std::to_array<unsigned char>({
      0x0F, 0x05,                       // syscall
      0x48, 0x99,                       // cqo: rdx = -1 if the call has failed
      0x48, 0x8D, 0x4A, 0x01,           // lea 1(%rdx), %rcx
      0xE3, 0x41,                       // jrcxz done
      0x48, 0x8D, 0x6C, 0x05, 0,        // lea (%rbp,%rax), %rbp
      0x48, 0x8B, 0x0B,                 // mov (%rbx), %rcx: minus the first call's length
      0x48, 0x8D, 0x0C, 0x01,           // lea (%rcx,%rax), %rcx
      0xE3, 0x02,                       // jrcxz second
      0xEB, 0x31,                       // jmp done
      0x48, 0x8B, 0x43, 0x58,           // second: mov 0x58(%rbx), %rax
      0x48, 0x8B, 0x7B, 0x60,           // mov 0x60(%rbx), %rdi
      0x48, 0x8B, 0x73, 0x68,           // mov 0x68(%rbx), %rsi
      0x48, 0x8B, 0x53, 0x70,           // mov 0x70(%rbx), %rdx
      0x4C, 0x8B, 0x53, 0x78,           // mov 0x78(%rbx), %r10
      0x4C, 0x8B, 0x83, 0x80, 0, 0, 0,  // mov 0x80(%rbx), %r8
      0x4C, 0x8B, 0x8B, 0x88, 0, 0, 0,  // mov 0x88(%rbx), %r9
      0x0F, 0x05,                       // syscall
      0x48, 0x99,                       // cqo
      0x48, 0x8D, 0x4A, 0x01,           // lea 1(%rdx), %rcx
      0xE3, 0x05,                       // jrcxz done
      0x48, 0x8D, 0x6C, 0x05, 0,        // lea (%rbp,%rax), %rbp
      0x48, 0x89, 0xE8,                 // done: mov %rbp, %rax
      0x48, 0x8B, 0x7B, 0x08,           // mov 0x08(%rbx), %rdi
      0x48, 0x8B, 0x73, 0x10,           // mov 0x10(%rbx), %rsi
      0x48, 0x8B, 0x53, 0x18,           // mov 0x18(%rbx), %rdx
      0x4C, 0x8B, 0x53, 0x20,           // mov 0x20(%rbx), %r10
      0x4C, 0x8B, 0x43, 0x28,           // mov 0x28(%rbx), %r8
      0x4C, 0x8B, 0x4B, 0x30,           // mov 0x30(%rbx), %r9
      0x48, 0x8B, 0x4B, 0x38,           // mov 0x38(%rbx), %rcx: as a system call leaves it
      0x48, 0x8B, 0x6B, 0x40,           // mov 0x40(%rbx), %rbp
      0x48, 0x8B, 0x5B, 0x48,           // mov 0x48(%rbx), %rbx
      0x3E, 0xFF, 0xE1,                 // notrack jmp *%rcx
  });

  /// What the code reads; not the owner and the number.
  struct Slot {
    std::uint64_t minus_first_length = 1;  // 1: there is no second call
    std::array<std::uint64_t, 6> arguments{};
    std::uint64_t back = 0;
    std::uint64_t rbp = 0;
    std::uint64_t rbx = 0;
    std::uint64_t owner = 0;  // the thread; 0: none
    Call second;
    std::uint64_t number = 0;  // of the call that was cut short
  };
  static_assert(offsetof(Slot, second) == 0x58 && sizeof(Call) == 0x38);

  /// A call that is about to return, and that has transferred something.
  struct Returning {
    Call call;
    std::uint64_t count = 0;
  };
  static std::optional<Returning> returning(const Registers& registers) {
    const auto number = leaving_syscall(registers);
    if (!number || TrapHandler::result(registers) <= 0) {
      return std::nullopt;
    }
    Call call = TrapHandler::next_call(registers);
    call.number = static_cast<std::uint64_t>(*number);
    return Returning{call, registers.rax};
  }

  /// The slot of a thread that is in the state `returning`, without its calls.
  static Slot slot(const Registers& returning, std::uint64_t owner) {
    Slot slot;
    slot.arguments = TrapHandler::next_call(returning).arguments;
    slot.back = returning.rip;
    slot.rbp = returning.rbp;
    slot.rbx = returning.rbx;
    slot.owner = owner;
    slot.number = returning.orig_rax;
    return slot;
  }
  /// That state but for the result, of a thread with this slot that has been stopped in the code.
  static Registers returning(const Registers& at, const Slot& slot) {
    Registers returning = at;
    TrapHandler::set_call(returning, slot.number, slot.arguments);
    returning.orig_rax = slot.number;
    returning.rip = slot.back;
    returning.rcx = slot.back;
    returning.r11 = at.eflags;
    returning.rbp = slot.rbp;
    returning.rbx = slot.rbx;
    return returning;
  }

  /// The registers with which that thread makes its first call in the code, which is at `code`.
  static Registers begin(const Registers& returning, core::Address code, core::Address slot,
                         const Call& first) {
    Registers at = returning;
    TrapHandler::set_call(at, first.number, first.arguments);
    at.rip = code.value();
    at.rbp = returning.rax;
    at.rbx = slot.value();
    return at;
  }

  static void set_result(Registers& returning, std::uint64_t sum) { returning.rax = sum; }

  /// The sum so far of a thread that has been stopped at that offset in the code.
  static std::uint64_t sum(const Registers& registers, std::uint64_t offset) {
    constexpr std::uint64_t kSyscallSize = TrapHandler::kSyscall.size();
    const bool is_not_added = (offset >= kSyscallSize && offset < kFirstIsAdded) ||
                              (offset >= kSecond + kSyscallSize && offset < kSecondIsAdded);
    if (offset > kDone) {
      return registers.rax;
    }
    const std::int64_t result = TrapHandler::result(registers);
    return registers.rbp + (is_not_added && result > 0 ? registers.rax : 0);
  }

 private:
  static constexpr std::uint64_t kFirstIsAdded = 0x0F;
  static constexpr std::uint64_t kSecond = 0x3C;
  static constexpr std::uint64_t kSecondIsAdded = 0x4B;
  static constexpr std::uint64_t kDone = 0x4B;
};

}  // namespace sp::arch::x86_64
