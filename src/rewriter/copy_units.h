#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tl/expected.hpp>
#include <vector>

#include "core/function_copy.h"
#include "rewriter/cpu.h"

namespace sp::rewriter {

/// What is copied as one piece of code without a way into its middle: a basic block, or the part
/// of one behind a system call, which control comes back to as it does behind a call.
struct CopyUnit {
  core::Address start;
  core::Address end;
  std::uint32_t block = 0;     // in the graph
  std::uint32_t first = 0;     // of its instructions in CopyUnits::instructions
  std::uint32_t size = 0;      // how many; at least one
  bool starts_block = true;    // else the block is counted already
  bool is_outside = false;     // control comes there from outside of the copy
  bool is_of_tables = false;   // only by tables of the function's own
  bool is_loop_head = false;   // of a backward jump within the copy
  bool falls_through = false;  // to `end`, out of its last instruction
  bool is_locked = false;      // the next unit begins behind its lock prefix,
  bool is_unlocked = false;    // as this one does: core::BasicBlock::is_unlocked
  bool is_cut = false;         // core::BasicBlock::is_cut
};

/// A function's code, decoded and cut.
struct CopyUnits {
  std::vector<cpu::SourceInstruction> instructions;
  std::vector<CopyUnit> units;  // by start; but for `is_unlocked` no two overlap
  core::Address bound_end;      // of the last instructions that have to stay together

  [[nodiscard]] std::span<const cpu::SourceInstruction> code_of(const CopyUnit& unit) const {
    return std::span(instructions).subspan(unit.first, unit.size);
  }
  [[nodiscard]] const cpu::SourceInstruction& last_of(const CopyUnit& unit) const {
    return instructions[unit.first + unit.size - 1];
  }
  /// The unit that starts at an address.
  [[nodiscard]] std::optional<std::uint32_t> find(core::Address start) const;
};

/// The instruction stays in the original: it is a call or enters the kernel.
[[nodiscard]] constexpr bool is_kept(core::Flow flow) {
  return flow == core::Flow::call || flow == core::Flow::indirect_call ||
         flow == core::Flow::syscall;
}

/// Refuses what the graph does not map and instructions that cannot be moved.
[[nodiscard]] tl::expected<CopyUnits, core::CopyRefusal> find_units(
    const core::FunctionToCopy& function);

}  // namespace sp::rewriter
