#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/aarch64/inserted_code.h"
#include "arch/counter_choice.h"

// How a block is counted in a copy. All threads count in the same words, which are added to
// atomically; no flag changes.
namespace sp::arch::aarch64 {

/// Flags that counting code may change, as in LiveBefore.
inline constexpr std::uint64_t kCountingFlags = 0;
/// x0 to x30.
inline constexpr unsigned kGeneralRegisters = 31;
inline constexpr std::uint32_t kAlwaysLive = 0;

/// At the earliest place where enough registers are dead, given what is live before each
/// instruction (up to and with the first one that leaves the block), else with a spill at the first
/// place there is. Nothing if only a spill is left and it is not allowed. `adds_in_memory`: see
/// core::CopyPlace.
[[nodiscard]] std::optional<CounterChoice> choose_counter(std::span<const LiveBefore> live,
                                                          bool allow_spill, bool adds_in_memory);

/// The code that counts. Behind a step from which on InsertedStep::is_noted, and behind the last
/// one, it has counted; see also core::CopyUndo::counted_if_zero. `counter`: an address.
[[nodiscard]] std::vector<InsertedStep> count(const CounterChoice& choice, std::uint64_t counter,
                                              bool adds_in_memory);

/// Effects of the instruction that `code` begins with, on general registers. It may read less than
/// this says, and overwrite more. One that raises a signal or enters the kernel is not known.
[[nodiscard]] LiveEffects live_effects(std::span<const std::byte> code);

}  // namespace sp::arch::aarch64
