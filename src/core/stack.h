#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/address.h"

namespace sp::core {

/// Registers in DWARF numbering (x86-64 psABI figure 3.36; AArch64 DWARF ABI section 4.1): on
/// x86-64 0-15 are rax rdx rcx rbx rsi rdi rbp rsp r8-r15, on AArch64 0-30 are x0-x30 and 31 is
/// sp. `pc` and `sp` are those at the stop. Only the unwinder reads them.
struct DwarfRegisters {
  std::array<std::uint64_t, 32> values{};
  Address pc;
  Address sp;
  /// Bits of a code pointer that hold its signature (NT_ARM_PAC_MASK); 0 without pointer
  /// authentication.
  std::uint64_t code_pointer_mask = 0;
  /// False if only pc and sp are known (a thread that was observed without being stopped).
  bool complete = true;
};

/// Everything that is needed to unwind a stopped thread after it has been resumed.
struct RawStack {
  DwarfRegisters registers;
  /// The memory from `bottom` (at or a little below sp) upwards.
  Address bottom;
  std::vector<std::byte> bytes;
};

/// One function activation.
struct Frame {
  ModuleOffset where;
  /// `where` is a return address, as in all frames but the innermost and those that a signal
  /// interrupted: names are looked up one byte back.
  bool is_return_address = false;

  constexpr auto operator<=>(const Frame&) const = default;
};

/// Where unwinding ended.
enum class StackEnd : std::uint8_t {
  root,            // at the thread's or process's first function
  copy_ended,      // the copy of the stack was too short
  no_unwind_info,  // reached code without unwind information
  bad_memory,      // frames pointed to unmapped memory, or in a circle
  too_deep,        // more frames than are kept
};

[[nodiscard]] constexpr bool is_truncated(StackEnd end) { return end != StackEnd::root; }

/// Innermost frame first; never empty if it came from a stop.
struct Stack {
  std::vector<Frame> frames;
  StackEnd end = StackEnd::root;
};

}  // namespace sp::core
