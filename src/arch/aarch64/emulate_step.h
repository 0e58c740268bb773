#pragma once

#include <cstdint>

#include "arch/aarch64/registers.h"
#include "arch/emulation.h"

namespace sp::arch::aarch64 {

/// One instruction being emulated. `registers` is a working copy that is discarded unless the
/// answer is `done`; its pc is that of the instruction until `finish` or `go_to`.
struct EmulatedStep {
  Registers registers;
  std::uint32_t word = 0;
  MemoryAccess& memory;

  /// Register 31 reads as zero here; sp has its own name.
  [[nodiscard]] std::uint64_t x(unsigned number) const;
  void set_x(unsigned number, std::uint64_t value);
  [[nodiscard]] std::uint64_t x_or_sp(unsigned number) const;
  void set_x_or_sp(unsigned number, std::uint64_t value);

  Emulated finish();
  /// Refused if the address is not in user space or not a multiple of four: the CPU would fault.
  Emulated go_to(std::uint64_t target);
};

/// Branches.
[[nodiscard]] Emulated emulate_transfer(EmulatedStep& step);
/// Sums with immediates, compares, moves, addresses.
[[nodiscard]] Emulated emulate_arithmetic(EmulatedStep& step);
/// Loads, the stack, and hints.
[[nodiscard]] Emulated emulate_data(EmulatedStep& step);

}  // namespace sp::arch::aarch64
