#include "arch/x86_64/counting.h"

#include <algorithm>
#include <bit>

#include "arch/x86_64/counter_code.h"
#include "arch/x86_64/encoding.h"
#include "arch/x86_64/flag_effects.h"
#include "arch/x86_64/operands.h"
#include "arch/x86_64/register_effects.h"
#include "arch/x86_64/registers.h"

namespace sp::arch::x86_64 {
namespace {

constexpr std::uint64_t kChangedByIncrement = kArithmeticFlags & ~kCarry;
constexpr std::int16_t kSpilled = 8;
constexpr std::int16_t kBelowRedZone = kRedZone;

/// ud2 and its like, int3, int1, hlt: behind calls that do not return.
bool is_trap(const Encoding& encoding) {
  const std::uint8_t opcode = encoding.opcode;
  return encoding.map == OpcodeMap::two_byte
             ? opcode == 0x0B || opcode == 0xB9 || opcode == 0xFF
             : encoding.map == OpcodeMap::one_byte &&
                   (opcode == 0xCC || opcode == 0xF1 || opcode == 0xF4);
}

InsertedStep step(const MovedInstruction& code, const core::CopyUndo& undo, bool is_counted) {
  using Label = InsertedStep::Label;
  return {code, undo, is_counted, Label::none, Label::none, Label::none};
}

std::vector<InsertedStep> count_with_spill(std::uint64_t counter, unsigned reg) {
  const core::CopyUndo skipped{.sp_shift = kBelowRedZone};
  const core::CopyUndo pushed{kBelowRedZone + kSpilled, {{{static_cast<std::uint8_t>(reg), 0}}}};
  std::vector<InsertedStep> steps{step(skip_red_zone(), {}, false),
                                  step(push_register(reg), skipped, false)};
  for (const MovedInstruction& part : count_in_register(counter, reg)) {
    steps.push_back(step(part, pushed, false));
  }
  steps.push_back(step(pop_register(reg), pushed, true));
  steps.push_back(step(return_to_red_zone(), skipped, true));
  return steps;
}

}  // namespace

std::optional<CounterChoice> choose_counter(std::span<const LiveBefore> live, bool allow_spill,
                                            bool /*adds_in_memory*/) {
  using Form = CounterChoice::Form;
  for (std::size_t i = 0; i < live.size(); ++i) {
    if ((live[i].flags & kChangedByIncrement) == 0) {
      return CounterChoice{i, Form::increment, {}};
    }
  }
  for (std::size_t i = 0; i < live.size(); ++i) {
    const auto dead = static_cast<std::uint16_t>(~(live[i].registers | (1U << kRsp)));
    if (dead != 0) {
      return CounterChoice{
          i, Form::in_register, {static_cast<std::uint8_t>(std::countr_zero(dead))}};
    }
  }
  return allow_spill ? std::optional(CounterChoice{0, Form::spill, {kRax}}) : std::nullopt;
}

std::vector<InsertedStep> count(const CounterChoice& choice, std::uint64_t counter,
                                bool /*adds_in_memory*/) {
  switch (choice.form) {
    case CounterChoice::Form::increment:
      return {step(increment_counter(counter), {}, false)};
    case CounterChoice::Form::in_register: {
      const auto parts = count_in_register(counter, choice.registers[0]);
      std::vector<InsertedStep> steps;
      std::transform(parts.begin(), parts.end(), std::back_inserter(steps),
                     [](const MovedInstruction& part) { return step(part, {}, false); });
      return steps;
    }
    case CounterChoice::Form::spill:
      return count_with_spill(counter, choice.registers[0]);
  }
  return {};
}

LiveEffects live_effects(std::span<const std::byte> code) {
  const auto encoding = read_encoding(code);
  if (!encoding || is_trap(*encoding)) {
    return {.is_known = false};
  }
  const FlagEffects flags = flag_effects(*encoding);
  const RegisterEffects registers = register_effects(*encoding);
  return {flags.reads, flags.kills, registers.reads, registers.overwrites, true};
}

}  // namespace sp::arch::x86_64
