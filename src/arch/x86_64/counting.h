#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/counter_choice.h"
#include "arch/x86_64/flags.h"
#include "arch/x86_64/inserted_code.h"

// How a block is counted in a copy.
namespace sp::arch::x86_64 {

/// Flags that counting code may change, as in LiveBefore.
inline constexpr std::uint64_t kCountingFlags = kArithmeticFlags;
/// General registers, rsp among them, which is always live.
inline constexpr unsigned kGeneralRegisters = 16;
inline constexpr std::uint32_t kAlwaysLive = 1U << 4U;

/// The cheapest way, at the earliest place, given what is live before each instruction (up to and
/// with the first one that leaves the block). Nothing if only a spill is left and it is not
/// allowed. `adds_in_memory`: core::CopyPlace's; this CPU always does.
[[nodiscard]] std::optional<CounterChoice> choose_counter(std::span<const LiveBefore> live,
                                                          bool allow_spill, bool adds_in_memory);

/// The code that counts. Behind a step from which on InsertedStep::is_noted, and behind the last
/// one, it has counted. `counter`: from the base of the segment.
[[nodiscard]] std::vector<InsertedStep> count(const CounterChoice& choice, std::uint64_t counter,
                                              bool adds_in_memory);

/// Effects of the instruction that `code` begins with, on flags and general registers. One that
/// raises a signal is not known: a handler may look.
[[nodiscard]] LiveEffects live_effects(std::span<const std::byte> code);

}  // namespace sp::arch::x86_64
