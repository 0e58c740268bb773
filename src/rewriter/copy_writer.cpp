#include "rewriter/copy_writer.h"

#include <algorithm>

#include "rewriter/inserted_jumps.h"

namespace sp::rewriter {

CopiedInstruction& CopyWriter::emit(const cpu::MovedInstruction& code, std::uint8_t undo) {
  CopiedInstruction copied;
  copied.code = code;
  copied.original = original_;
  copied.undo = undo != 0 ? undo : undo_;
  copied.is_counted = is_counted_;
  copied.is_entry = std::exchange(is_entry_, false);
  copied.is_branching = is_branching_;
  copied.is_transferred = is_transferred_;
  copied.is_in_entry = is_in_entry_;
  made_.instructions.push_back(copied);
  return made_.instructions.back();
}

std::uint8_t CopyWriter::undo(const core::CopyUndo& undo) {
  const auto found = std::find(made_.undos.begin(), made_.undos.end(), undo);
  const auto index = static_cast<std::uint8_t>(found - made_.undos.begin());
  if (found == made_.undos.end()) {
    made_.undos.push_back(undo);
  }
  return index;
}

void CopyWriter::add_counter(std::span<const cpu::InsertedStep> count, bool& state, bool counted) {
  for (const cpu::InsertedStep& step : count) {
    state = step.is_noted ? counted : state;
    emit(step.code, undo(step.undo));
  }
  state = counted;
}

void CopyWriter::add_noted(const cpu::InsertedCode& code, const std::function<void()>& add) {
  InsertedJumps jumps(made_.instructions);
  add_steps(code.ahead, jumps);
  is_transferred_ = true;
  add();
  add_steps(code.behind, jumps);
  is_transferred_ = false;
  jumps.connect(made_.inserted_exits);
}

void CopyWriter::add_steps(std::span<const cpu::InsertedStep> steps, InsertedJumps& jumps) {
  for (const cpu::InsertedStep& step : steps) {
    is_transferred_ = step.is_noted;
    emit(step.code, undo(step.undo));
    jumps.note(step);
  }
}

}  // namespace sp::rewriter
