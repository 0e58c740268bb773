#pragma once

#include <cstdint>
#include <optional>

#include "arch/emulation.h"
#include "arch/x86_64/encoding.h"
#include "arch/x86_64/operands.h"
#include "arch/x86_64/registers.h"

namespace sp::arch::x86_64 {

/// One instruction being emulated. `registers` is a working copy that is thrown away unless the
/// answer is `done`; its rip is that of the instruction until `finish` or `go_to`. A memory write
/// comes last, so that nothing has changed where it is refused.
struct EmulatedStep {
  Registers registers;
  const Encoding& encoding;
  MemoryAccess& memory;

  [[nodiscard]] std::uint64_t next() const { return registers.rip + encoding.length; }
  [[nodiscard]] bool has_rex() const { return encoding.rex != 0; }
  /// Bytes of the operand: one where the lowest bit of the opcode is clear.
  [[nodiscard]] unsigned width() const;
  /// The same for opcodes that are never of one byte.
  [[nodiscard]] unsigned whole_width() const;

  /// The register or memory that ModRM names; nothing where memory refuses.
  [[nodiscard]] std::optional<std::uint64_t> read_operand(unsigned width);

  Emulated finish();
  /// Refused where the address is not one of user space: the CPU would fault on the branch itself.
  Emulated go_to(std::uint64_t target);
  Emulated push(std::uint64_t value);
};

// Each takes its own instructions and leaves the step as it was where it answers `not_emulated`, or
// spoils it where the instruction would fault.

/// Jumps, calls and returns.
[[nodiscard]] Emulated emulate_transfer(EmulatedStep& step);
/// Sums, logic and compares.
[[nodiscard]] Emulated emulate_arithmetic(EmulatedStep& step);
/// Moves, the stack, and what does nothing.
[[nodiscard]] Emulated emulate_data(EmulatedStep& step);

}  // namespace sp::arch::x86_64
