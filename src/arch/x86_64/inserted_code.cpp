#include "arch/x86_64/inserted_code.h"

#include <algorithm>
#include <utility>

#include "arch/x86_64/counter_code.h"
#include "arch/x86_64/operands.h"
#include "arch/x86_64/registers.h"

namespace sp::arch::x86_64 {
namespace {

using core::CopyUndo;

constexpr std::int16_t kSavedWord = 8;
constexpr std::int16_t kRedZoneBytes = kRedZone;

}  // namespace

MovedInstruction code(std::initializer_list<unsigned> bytes,
                      std::initializer_list<std::uint64_t> numbers) {
  MovedInstruction made;
  made.append(bytes);
  for (const std::uint64_t number : numbers) {
    made.append_number(number, 4);
  }
  return made;
}

MovedInstruction jump(std::initializer_list<unsigned> opcode, std::uint8_t size) {
  MovedInstruction made = code(opcode);
  made.append_displacement(size, {});
  return made;
}

InsertedCodeMaker::InsertedCodeMaker(std::initializer_list<unsigned> saved, bool saves_flags)
    : count_(saved.size()), saves_flags_(saves_flags) {
  std::copy(saved.begin(), saved.end(), saved_.begin());
}

CopyUndo InsertedCodeMaker::undo_of(std::size_t registers, bool has_flags) const {
  const auto words = static_cast<std::int16_t>(registers + (has_flags ? 1 : 0));
  CopyUndo undo{static_cast<std::int16_t>(kRedZoneBytes + words * kSavedWord)};
  const auto at = [&](std::size_t index) {
    return static_cast<std::int16_t>((words - 1 - static_cast<std::int16_t>(index)) * kSavedWord);
  };
  for (std::size_t i = 0; i < registers; ++i) {
    undo.reloads.at(i) = {static_cast<std::uint8_t>(saved_.at(i)), at(i)};
  }
  undo.flags_from = has_flags ? std::int16_t{0} : CopyUndo::kNoFlags;
  return undo;
}

InsertedStep& InsertedCodeMaker::add(const MovedInstruction& instruction) {
  steps_.push_back({instruction, undo_, is_noted_, Label::none, Label::none, Label::none});
  return steps_.back();
}

/// Behind the instruction something else is to be undone.
void InsertedCodeMaker::add(const MovedInstruction& instruction, const CopyUndo& after) {
  add(instruction);
  undo_ = after;
}

std::uint8_t InsertedCodeMaker::distance() const {
  return static_cast<std::uint8_t>(undo_of_all().sp_shift);
}

void InsertedCodeMaker::save() {
  add(skip_red_zone(), undo_of(0, false));
  for (std::size_t i = 0; i < count_; ++i) {
    add(push_register(saved_.at(i)), undo_of(i + 1, false));
  }
  if (saves_flags_) {
    add(code({0x9F}));              // lahf
    add(code({0x0F, 0x90, 0xC0}));  // seto %al
    add(push_register(kRax), undo_of_all());
    add(code({0x48, 0x8B, 0x44, 0x24, static_cast<unsigned>(count_) * kSavedWord}));  // mov, %rax
  }
}

void InsertedCodeMaker::restore() {
  const std::size_t first = steps_.size();
  if (saves_flags_) {
    // The flags are popped before they are in their place.
    CopyUndo popped = undo_of(count_, false);
    popped.flags_from = -kSavedWord;
    add(pop_register(kRax), popped);
    add(code({0x04, 0x7F}));                    // add $127, %al: sets OF if it was set
    add(code({0x9E}), undo_of(count_, false));  // sahf
  }
  for (std::size_t left = count_; left > 0; --left) {
    add(pop_register(saved_.at(left - 1)), undo_of(left - 1, false));
  }
  add(return_to_red_zone(), {});
  steps_[first].label = Label::restore;
}

void InsertedCodeMaker::begin_behind() {
  undo_ = undo_of_all();
  is_noted_ = false;
}

std::vector<InsertedStep> InsertedCodeMaker::take() { return std::exchange(steps_, {}); }

}  // namespace sp::arch::x86_64
