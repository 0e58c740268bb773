#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sp::arch::aarch64 {

/// What an unwinder must know about this CPU's stack frames. Registers are DWARF numbers (AArch64
/// DWARF ABI section 4.1), slots are offsets in bytes.
struct Frames {
  static constexpr unsigned kRegisters = 32;
  static constexpr unsigned kStackPointer = 31;
  static constexpr unsigned kFramePointer = 29;
  static constexpr unsigned kPc = 32;
  /// The pair that a frame pointer points to is all that is between a frame and its caller's:
  /// clang has it so, gcc has what the frame holds above it.
  static constexpr bool kPairEndsFrame = false;

  /// The code in front of a return address ends in BL or BLR.
  [[nodiscard]] static bool ends_in_call(std::span<const std::byte> before);

  /// Where a direct call in front of a return address goes, counted from the return address.
  [[nodiscard]] static std::optional<std::int64_t> called(std::span<const std::byte> before);

  /// The code is, or is inside of, mov x8, #__NR_rt_sigreturn; svc #0.
  [[nodiscard]] static bool is_signal_return(std::span<const std::byte> before,
                                             std::span<const std::byte> code);
  /// Where, from sp in that code, the kernel saved a register of the interrupted code.
  [[nodiscard]] static std::int64_t signal_slot(unsigned dwarf_register);

  /// The way out of a function whose epilogue a thread is in: a straight run of loads, stack
  /// releases and a return, which will do exactly this, whatever unwind tables say of it (clang
  /// says nothing). The return address is in x30 then.
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
    /// Leaves by a jump, to be believed only if it really leaves the function.
    bool by_jump = false;
    /// Of a direct jump: its target counted from the first byte of the code.
    std::optional<std::int64_t> jump_target;
  };
  [[nodiscard]] static std::optional<Epilogue> find_epilogue(std::span<const std::byte> before,
                                                     std::span<const std::byte> code);

  /// What the instructions of a function up to pc have done to the stack. clang describes a
  /// prologue only behind its last instruction.
  struct Prologue {
    std::int64_t lowered = 0;                        // bytes that sp was moved down
    std::optional<std::int64_t> frame_pointer_slot;  // from sp: where the caller's is, if changed
  };
  [[nodiscard]] static Prologue read_prologue(std::span<const std::byte> done);

  /// What is described for pc is described right only so many bytes further: behind an instruction
  /// that does nothing, as the first of _dl_runtime_resolve.
  [[nodiscard]] static std::size_t idle_length(std::span<const std::byte> code);

  /// Always nothing: a stub's return address is in x30, not in memory.
  [[nodiscard]] static std::optional<std::int64_t> frameless_return_slot(
      std::span<const std::byte> before, std::span<const std::byte> code);

  /// In code that has no unwind table the return address is still in the link register, and the
  /// caller's sp is so many bytes higher: PLT stubs, and the first and last instructions of a
  /// function that keeps a frame pointer.
  static constexpr std::optional<unsigned> kLinkRegister = 30;
  [[nodiscard]] static std::optional<std::int64_t> linked_return(std::span<const std::byte> before,
                                                                 std::span<const std::byte> code);
};

}  // namespace sp::arch::aarch64
