#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "arch/counter_choice.h"
#include "core/function_copy.h"
#include "rewriter/copy_code.h"

namespace sp::rewriter {

/// Appends instructions to a copy, with what each of them means in the original.
class CopyWriter {
 public:
  /// Of what is emitted next: the original's next instruction. A thread may be put there from the
  /// original, unless that `is_left` in the original.
  void at(core::Address original, bool is_left) {
    original_ = original;
    is_entry_ = !is_left;
  }
  /// What is emitted next is the copy's own: control is at `original` already.
  void continue_at(core::Address original) { original_ = original; }
  /// Whether its block is counted already.
  void set_counted(bool is_counted) { is_counted_ = is_counted; }
  /// Whether the entry that the instruction reads is counted already.
  void set_in_entry(bool is_in_entry) { is_in_entry_ = is_in_entry; }
  /// Of all that is emitted with nothing else to undo.
  void set_undo(std::uint8_t undo) { undo_ = undo; }

  CopiedInstruction& emit(const cpu::MovedInstruction& code, std::uint8_t undo = 0);
  [[nodiscard]] std::uint8_t undo(const core::CopyUndo& undo);

  /// Counts the block.
  void add_counter(std::span<const cpu::InsertedStep> count) {
    add_counter(count, is_counted_, true);
  }
  /// Counts a branch whose way has been taken.
  void add_branch_counter(std::span<const cpu::InsertedStep> count) {
    is_branching_ = true;
    add_counter(count, is_branching_, false);
  }
  /// `add` emits the instruction of the original that the code notes.
  void add_noted(const cpu::InsertedCode& code, const std::function<void()>& add);

  [[nodiscard]] std::uint32_t size() const {
    return static_cast<std::uint32_t>(made_.instructions.size());
  }
  [[nodiscard]] CopyCode& made() { return made_; }

 private:
  /// `state` is `counted` once the count is done.
  void add_counter(std::span<const cpu::InsertedStep> count, bool& state, bool counted);
  void add_steps(std::span<const cpu::InsertedStep> steps, class InsertedJumps& jumps);

  CopyCode made_;
  core::Address original_;
  bool is_entry_ = false;
  bool is_counted_ = false;
  bool is_branching_ = false;
  bool is_transferred_ = false;
  bool is_in_entry_ = false;
  std::uint8_t undo_ = 0;
};

}  // namespace sp::rewriter
