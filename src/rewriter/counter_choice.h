#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "rewriter/live_state.h"

namespace sp::rewriter {

/// Where and how a block is counted.
struct CounterChoice {
  enum class Form : std::uint8_t {
    increment,    // changes flags, which are dead there
    in_register,  // changes a register, which is dead there
    spill,        // of a register to the stack
  };
  std::size_t index = 0;  // in front of this instruction of the block
  Form form = Form::spill;
  unsigned reg = 0;  // of the last two

  bool operator==(const CounterChoice&) const = default;
};

/// The cheapest way, at the earliest place, given what is live before each instruction (up to and
/// with the first one that leaves the block). Nothing if only a spill is left and it is not
/// allowed.
[[nodiscard]] std::optional<CounterChoice> choose_counter(std::span<const LiveBefore> live,
                                                          bool allow_spill);

}  // namespace sp::rewriter
