#pragma once

#include <cstdint>
#include <vector>

#include "core/function_copy.h"

namespace sp::arch {

/// An instruction of code that a copy has and the original has not. `Instruction`: the CPU's
/// MovedInstruction.
template <typename Instruction>
struct InsertedStepOf {
  enum class Label : std::uint8_t { none, search, next, add, count, restore, lost };

  Instruction code;
  core::CopyUndo undo;  // when it is the next one
  /// What the code notes is noted already (core::CopyPoint::is_transferred), or counted.
  bool is_noted = false;
  Label label = Label::none;  // it is there
  Label to = Label::none;     // its displacement leads there
  Label exit = Label::none;   // a jump there may take its place: see core::CopyExit
};

/// Code that changes nothing but memory below the red zone, and words of the counter segment.
template <typename Instruction>
struct InsertedCodeOf {
  std::vector<InsertedStepOf<Instruction>> ahead;   // of an instruction of the original
  std::vector<InsertedStepOf<Instruction>> behind;  // where control comes from `ahead` alone
};

}  // namespace sp::arch
