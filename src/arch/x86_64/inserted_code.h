#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "arch/inserted_step.h"
#include "arch/x86_64/move.h"
#include "core/function_copy.h"

namespace sp::arch::x86_64 {

using InsertedStep = InsertedStepOf<MovedInstruction>;
using InsertedCode = InsertedCodeOf<MovedInstruction>;

/// Bytes, then numbers of four bytes.
[[nodiscard]] MovedInstruction code(std::initializer_list<unsigned> bytes,
                                    std::initializer_list<std::uint64_t> numbers = {});
/// A jump with a displacement of one byte, or of four.
[[nodiscard]] MovedInstruction jump(std::initializer_list<unsigned> opcode, std::uint8_t size);

/// Appends the steps of inserted code. The registers that it uses are on the stack meanwhile, below
/// the red zone.
class InsertedCodeMaker {
 public:
  using Label = InsertedStep::Label;
  static constexpr std::size_t kMostSaved = 3;

  /// The first of `saved`, of which there are two or three, is rax.
  InsertedCodeMaker(std::initializer_list<unsigned> saved, bool saves_flags);

  InsertedStep& add(const MovedInstruction& instruction);
  void add_jump(const MovedInstruction& instruction, Label to) { add(instruction).to = to; }
  /// From the next step on.
  void set_noted(bool is_noted) { is_noted_ = is_noted; }

  /// Afterwards all registers but rsp are as they were.
  void save();
  /// Puts everything back, with Label::restore.
  void restore();
  /// What was saved is on the stack: for code that restore() does not follow.
  void begin_behind();
  [[nodiscard]] std::vector<InsertedStep> take();

  /// Bytes from rsp to where it was before save().
  [[nodiscard]] std::uint8_t distance() const;

 private:
  /// Of so many registers, and perhaps the flags, on the stack.
  [[nodiscard]] core::CopyUndo undo_of(std::size_t registers, bool has_flags) const;
  [[nodiscard]] core::CopyUndo undo_of_all() const { return undo_of(count_, saves_flags_); }
  void add(const MovedInstruction& instruction, const core::CopyUndo& after);

  std::array<unsigned, kMostSaved> saved_{};
  std::size_t count_ = 0;
  bool saves_flags_;
  core::CopyUndo undo_;
  bool is_noted_ = false;
  std::vector<InsertedStep> steps_;
};

}  // namespace sp::arch::x86_64
