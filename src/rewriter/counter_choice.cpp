#include "rewriter/counter_choice.h"

#include <bit>

#include "arch/x86_64/flags.h"
#include "arch/x86_64/operands.h"

namespace sp::rewriter {
namespace {

using arch::x86_64::kArithmeticFlags;
using arch::x86_64::kCarry;
using arch::x86_64::kRsp;

constexpr std::uint64_t kChangedByIncrement = kArithmeticFlags & ~kCarry;

}  // namespace

std::optional<CounterChoice> choose_counter(std::span<const LiveBefore> live, bool allow_spill) {
  using Form = CounterChoice::Form;
  for (std::size_t i = 0; i < live.size(); ++i) {
    if ((live[i].flags & kChangedByIncrement) == 0) {
      return CounterChoice{i, Form::increment, 0};
    }
  }
  for (std::size_t i = 0; i < live.size(); ++i) {
    const auto dead =
        static_cast<std::uint16_t>(~(std::uint32_t{live[i].registers} | (1U << kRsp)));
    if (dead != 0) {
      return CounterChoice{i, Form::in_register, static_cast<unsigned>(std::countr_zero(dead))};
    }
  }
  return allow_spill ? std::optional(CounterChoice{0, Form::spill, arch::x86_64::kRax})
                     : std::nullopt;
}

}  // namespace sp::rewriter
