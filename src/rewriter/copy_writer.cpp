#include "rewriter/copy_writer.h"

#include <algorithm>

#include "arch/x86_64/counter_code.h"
#include "arch/x86_64/registers.h"
#include "rewriter/inserted_jumps.h"

namespace sp::rewriter {
namespace {

using arch::x86_64::MovedInstruction;

constexpr std::int16_t kSpilled = 8;
constexpr std::int16_t kRedZoneBytes = arch::x86_64::kRedZone;

}  // namespace

CopiedInstruction& CopyWriter::emit(const MovedInstruction& code, std::uint8_t undo) {
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

void CopyWriter::add_counter(const CounterChoice& choice, std::uint64_t counter, bool& state,
                             bool counted) {
  if (choice.form == CounterChoice::Form::increment) {
    emit(arch::x86_64::increment_counter(counter));
    state = counted;
    return;
  }
  const auto count = arch::x86_64::count_in_register(counter, choice.reg);
  if (choice.form == CounterChoice::Form::in_register) {
    for (const MovedInstruction& part : count) {
      emit(part);
    }
    state = counted;
    return;
  }
  const auto skipped = undo({.sp_shift = kRedZoneBytes});
  const auto pushed =
      undo({kRedZoneBytes + kSpilled, {{{static_cast<std::uint8_t>(choice.reg), 0}}}});
  emit(arch::x86_64::skip_red_zone());
  emit(arch::x86_64::push_register(choice.reg), skipped);
  for (const MovedInstruction& part : count) {
    emit(part, pushed);
  }
  state = counted;
  emit(arch::x86_64::pop_register(choice.reg), pushed);
  emit(arch::x86_64::return_to_red_zone(), skipped);
}

void CopyWriter::add_noted(const arch::x86_64::InsertedCode& code,
                           const std::function<void()>& add) {
  InsertedJumps jumps(made_.instructions);
  add_steps(code.ahead, jumps);
  is_transferred_ = true;
  add();
  add_steps(code.behind, jumps);
  is_transferred_ = false;
  jumps.connect(made_.inserted_exits);
}

void CopyWriter::add_steps(std::span<const arch::x86_64::InsertedStep> steps,
                           InsertedJumps& jumps) {
  for (const arch::x86_64::InsertedStep& step : steps) {
    is_transferred_ = step.is_noted;
    emit(step.code, undo(step.undo));
    jumps.note(step);
  }
}

}  // namespace sp::rewriter
