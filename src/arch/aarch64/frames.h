#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/address.h"

namespace sp::arch::aarch64 {

/// This CPU's stack frames, for the unwinder. Registers are DWARF numbers (AArch64
/// DWARF ABI section 4.1), slots are offsets in bytes.
struct Frames {
  static constexpr unsigned kRegisters = 32;
  static constexpr unsigned kStackPointer = 31;
  static constexpr unsigned kFramePointer = 29;
  static constexpr unsigned kPc = 32;
  /// Only the pair that the frame pointer points to lies between a frame and its caller's. True for
  /// clang's code; gcc puts the frame's other contents above the pair.
  static constexpr bool kPairEndsFrame = false;

  /// The code in front of a return address ends in BL or BLR.
  [[nodiscard]] static bool ends_in_call(std::span<const std::byte> before);

  /// The target of a direct call in front of a return address, relative to the return address.
  [[nodiscard]] static std::optional<std::int64_t> called(std::span<const std::byte> before);

  /// The code is, or lies within, mov x8, #__NR_rt_sigreturn; svc #0.
  [[nodiscard]] static bool is_signal_return(std::span<const std::byte> before,
                                             std::span<const std::byte> code);
  /// The offset from sp in that code at which the kernel saved a register of the interrupted code.
  [[nodiscard]] static std::int64_t signal_slot(unsigned dwarf_register);
  /// Where a signal came, if words[at] looks like the header of the vector registers in a frame
  /// that the kernel made for its handler; `words` is a part of a stack.
  struct Interrupted {
    core::Address pc;
    core::Address sp;
  };
  [[nodiscard]] static std::optional<Interrupted> interrupted(std::span<const std::uint64_t> words,
                                                              std::size_t at);

  /// The rest of an epilogue that a thread is in: straight-line loads, stack releases and a return.
  /// Overrides the unwind tables, which clang leaves without rows for epilogues. The return address
  /// ends up in x30.
  struct Epilogue {
    unsigned base = kStackPointer;
    std::int64_t return_slot = 0;  // where sp will be
    std::int64_t released = 0;     // nothing here
    struct Restored {
      unsigned dwarf_register = 0;
      std::int64_t slot = 0;
    };
    std::array<Restored, 16> restored{};
    std::size_t restored_count = 0;
    /// Leaves by a jump: valid only if the jump really leaves the function.
    bool by_jump = false;
    /// Of a direct jump: its target relative to the first byte of the code.
    std::optional<std::int64_t> jump_target;
  };
  [[nodiscard]] static std::optional<Epilogue> find_epilogue(std::span<const std::byte> before,
                                                             std::span<const std::byte> code);

  /// What the instructions of a function up to pc have done to the stack. clang's CFI covers a
  /// prologue only from its end on.
  struct Prologue {
    std::int64_t lowered = 0;                        // bytes that sp was lowered by
    std::optional<std::int64_t> frame_pointer_slot;  // of the caller's, from sp, if it was saved
  };
  [[nodiscard]] static Prologue read_prologue(std::span<const std::byte> done);

  /// The CFI row for pc is right only so many bytes further on: after an instruction without
  /// effect, like the first of _dl_runtime_resolve.
  [[nodiscard]] static std::size_t idle_length(std::span<const std::byte> code);

  /// Always nothing: a stub's return address is in x30, not in memory.
  [[nodiscard]] static std::optional<std::int64_t> frameless_return_slot(
      std::span<const std::byte> before, std::span<const std::byte> code);

  /// The distance to the caller's sp in code without an unwind table whose return address is still
  /// in the link register: PLT stubs, and the first and last instructions of a function with a
  /// frame pointer.
  static constexpr std::optional<unsigned> kLinkRegister = 30;
  [[nodiscard]] static std::optional<std::int64_t> linked_return(std::span<const std::byte> before,
                                                                 std::span<const std::byte> code);
};

}  // namespace sp::arch::aarch64
