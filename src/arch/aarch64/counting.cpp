#include "arch/aarch64/counting.h"

#include <cstddef>

namespace sp::arch::aarch64 {
namespace {

using core::CopyUndo;

/// Not the platform register, and not what unwinders look at, dead or not.
constexpr std::uint32_t kUsable = 0x0003FFFFU;

std::size_t registers_for(bool adds_in_memory) { return adds_in_memory ? 2 : 3; }

/// Appends the steps of a count.
class CountMaker {
 public:
  CountMaker(const CounterChoice& choice, bool adds_in_memory)
      : address_(choice.registers[0]),
        value_(choice.registers[1]),
        status_(choice.registers[2]),
        adds_in_memory_(adds_in_memory) {}

  std::vector<InsertedStep> make(bool spills, std::uint64_t counter) {
    if (spills) {
      save();
    }
    for (const MovedInstruction& move : move_number(address_, counter)) {
      add(move);
    }
    if (adds_in_memory_) {
      for (const MovedInstruction& one : move_number(value_, 1)) {
        add(one);
      }
      add(0xF820001FU | (value_ << 16U) | (address_ << 5U));  // stadd value, [address]
    } else {
      add_in_loop();
    }
    if (spills) {
      is_counted_ = true;
      restore();
    }
    return std::move(steps_);
  }

 private:
  void add(const MovedInstruction& code) {
    using Label = InsertedStep::Label;
    steps_.push_back({code, undo_, is_counted_, Label::none, Label::none, Label::none});
  }
  void add(std::uint32_t word) { add(MovedInstruction(word)); }

  /// A stop in between makes the store fail, as a store to the same line by another thread does.
  void add_in_loop() {
    constexpr std::uint32_t kBackToLoad = (0x80000U - 3U) << 5U;
    add(0xC85F7C00U | (address_ << 5U) | value_);                     // ldxr value, [address]
    add(0x91000400U | (value_ << 5U) | value_);                       // add value, value, #1
    add(0xC8007C00U | (status_ << 16U) | (address_ << 5U) | value_);  // stxr status, ...
    undo_.counted_if_zero = static_cast<std::uint8_t>(status_);
    add(0x35000000U | kBackToLoad | status_);  // cbnz status
    undo_.counted_if_zero = CopyUndo::kNone;
  }

  [[nodiscard]] std::uint32_t pair() const {
    constexpr std::uint32_t kOnStack = 31U << 5U;
    return (value_ << 10U) | kOnStack | address_;
  }

  void save() {
    const std::int16_t room = adds_in_memory_ ? 16 : 32;
    add((adds_in_memory_ ? 0xA9BF0000U : 0xA9BE0000U) | pair());  // stp ..., [sp, #-room]!
    undo_.sp_shift = room;
    undo_.reloads[0] = {static_cast<std::uint8_t>(address_), 0};
    undo_.reloads[1] = {static_cast<std::uint8_t>(value_), 8};
    if (!adds_in_memory_) {
      add(0xF9000BE0U | status_);  // str status, [sp, #16]
      undo_.reloads[2] = {static_cast<std::uint8_t>(status_), 16};
    }
  }
  void restore() {
    if (!adds_in_memory_) {
      add(0xF9400BE0U | status_);  // ldr status, [sp, #16]
    }
    add((adds_in_memory_ ? 0xA8C10000U : 0xA8C20000U) | pair());  // ldp ..., [sp], #room
  }

  unsigned address_;
  unsigned value_;
  unsigned status_;
  bool adds_in_memory_;
  CopyUndo undo_;
  bool is_counted_ = false;
  std::vector<InsertedStep> steps_;
};

}  // namespace

std::optional<CounterChoice> choose_counter(std::span<const LiveBefore> live, bool allow_spill,
                                            bool adds_in_memory) {
  using Form = CounterChoice::Form;
  const std::size_t needed = registers_for(adds_in_memory);
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (live[i].is_bound) {
      continue;
    }
    first = first.value_or(i);
    CounterChoice choice{i, Form::in_register, {}};
    std::size_t found = 0;
    for (std::uint8_t reg = 0; reg < kGeneralRegisters && found < needed; ++reg) {
      if ((~live[i].registers & kUsable & (1U << reg)) != 0) {
        choice.registers.at(found++) = reg;
      }
    }
    if (found == needed) {
      return choice;
    }
  }
  return first && allow_spill ? std::optional(CounterChoice{*first, Form::spill, {0, 1, 2}})
                              : std::nullopt;
}

std::vector<InsertedStep> count(const CounterChoice& choice, std::uint64_t counter,
                                bool adds_in_memory) {
  CountMaker maker(choice, adds_in_memory);
  return maker.make(choice.form == CounterChoice::Form::spill, counter);
}

}  // namespace sp::arch::aarch64
