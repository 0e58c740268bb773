#pragma once

#include <cstdint>
#include <optional>

#include "arch/emulation.h"
#include "arch/x86_64/encoding.h"
#include "arch/x86_64/operands.h"
#include "arch/x86_64/registers.h"

namespace sp::arch::x86_64 {

/// One instruction being emulated. `registers` is a working copy that is discarded unless the
/// answer is `done`; its rip is that of the instruction until `finish` or `go_to`. A memory write
/// comes last, so that a refused one leaves nothing changed.
struct EmulatedStep {
  Registers registers;
  const Encoding& encoding;
  MemoryAccess& memory;

  [[nodiscard]] std::uint64_t next() const { return registers.rip + encoding.length; }
  [[nodiscard]] bool has_rex() const { return encoding.rex != 0; }
  /// Bytes of the operand: one if the lowest bit of the opcode is clear.
  [[nodiscard]] unsigned width() const;
  /// The same for opcodes without a one-byte form.
  [[nodiscard]] unsigned whole_width() const;

  /// The register or memory that ModRM names; nothing if the memory cannot be read.
  [[nodiscard]] std::optional<std::uint64_t> read_operand(unsigned width);

  Emulated finish();
  /// Refused if the address is not in user space: the CPU would fault on the branch itself.
  Emulated go_to(std::uint64_t target);
  Emulated push(std::uint64_t value);
};

// Each handles its own instructions. The step is unchanged after `not_emulated`; it is invalid if
// the instruction would fault.

/// Jumps, calls and returns.
[[nodiscard]] Emulated emulate_transfer(EmulatedStep& step);
/// Sums, logic and compares.
[[nodiscard]] Emulated emulate_arithmetic(EmulatedStep& step);
/// Moves, the stack, and nops.
[[nodiscard]] Emulated emulate_data(EmulatedStep& step);

}  // namespace sp::arch::x86_64
