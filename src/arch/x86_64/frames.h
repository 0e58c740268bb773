#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/address.h"

namespace sp::arch::x86_64 {

/// This CPU's stack frames, for the unwinder. Registers are DWARF numbers (psABI
/// figure 3.36), slots are offsets in bytes.
struct Frames {
  static constexpr unsigned kRegisters = 16;
  static constexpr unsigned kStackPointer = 7;
  static constexpr unsigned kFramePointer = 6;
  static constexpr unsigned kPc = 16;
  /// Only the pair that the frame pointer points to lies between a frame and its caller's.
  static constexpr bool kPairEndsFrame = true;

  /// The code in front of a return address ends in a call instruction.
  [[nodiscard]] static bool ends_in_call(std::span<const std::byte> before);

  /// The target of a direct call in front of a return address, relative to the return address.
  [[nodiscard]] static std::optional<std::int64_t> called(std::span<const std::byte> before);

  /// The code is, or lies within, the libc's restorer, which handlers return to:
  /// mov $__NR_rt_sigreturn, %rax; syscall.
  [[nodiscard]] static bool is_signal_return(std::span<const std::byte> before,
                                             std::span<const std::byte> code);
  /// The offset from sp in that code at which the kernel saved a register of the interrupted code.
  [[nodiscard]] static std::int64_t signal_slot(unsigned dwarf_register);
  /// Where a signal came, if words[at] looks like the segment registers in a frame that the kernel
  /// made for its handler; `words` is a part of a stack.
  struct Interrupted {
    core::Address pc;
    core::Address sp;
  };
  [[nodiscard]] static std::optional<Interrupted> interrupted(std::span<const std::uint64_t> words,
                                                              std::size_t at);

  /// The rest of an epilogue that a thread is in: straight-line pops, stack releases and a return.
  /// Overrides the unwind tables, which clang leaves without rows for epilogues.
  struct Epilogue {
    unsigned base = kStackPointer;  // or kFramePointer: slots count from this register
    std::int64_t return_slot = 0;
    std::int64_t released = 0;  // bytes above the return address that the return pops as well
    struct Restored {
      unsigned dwarf_register = 0;
      std::int64_t slot = 0;
    };
    std::array<Restored, 8> restored{};
    std::size_t restored_count = 0;
    /// Leaves by a jump: valid only if the jump really leaves the function.
    bool by_jump = false;
    /// Of a direct jump: its target relative to the first byte of the code.
    std::optional<std::int64_t> jump_target;
  };
  [[nodiscard]] static std::optional<Epilogue> find_epilogue(std::span<const std::byte> before,
                                                             std::span<const std::byte> code);

  /// Nothing: compilers emit CFI for their prologues here. See the other CPU's.
  struct Prologue {
    std::int64_t lowered = 0;
    std::optional<std::int64_t> frame_pointer_slot;
  };
  [[nodiscard]] static Prologue read_prologue(std::span<const std::byte> /*done*/) { return {}; }
  [[nodiscard]] static std::size_t idle_length(std::span<const std::byte> /*code*/) { return 0; }

  /// The return address's offset from sp in code without an unwind table that has not set up a
  /// frame: PLT stubs and the first instructions of a function that will push rbp.
  [[nodiscard]] static std::optional<std::int64_t> frameless_return_slot(
      std::span<const std::byte> before, std::span<const std::byte> code);

  /// Nothing: a call leaves its return address in memory here. See the other CPU's.
  static constexpr std::optional<unsigned> kLinkRegister = std::nullopt;
  [[nodiscard]] static std::optional<std::int64_t> linked_return(
      std::span<const std::byte> /*before*/, std::span<const std::byte> /*code*/) {
    return std::nullopt;
  }
};

}  // namespace sp::arch::x86_64
