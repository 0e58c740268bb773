#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sp::arch {

/// What instructions read and overwrite of the state that counting code may change.
struct LiveEffects {
  std::uint64_t reads_flags = 0;
  std::uint64_t kills_flags = 0;  // overwrites them, whatever its operands are
  std::uint32_t reads = 0;        // general registers: bit n is number n in instructions
  std::uint32_t overwrites = 0;   // all bits of them
  bool is_known = true;           // else everything may be read, and nothing is overwritten
};

/// What later instructions may read, of the state before an instruction.
struct LiveBefore {
  std::uint64_t flags = 0;      // as the CPU's kCountingFlags
  std::uint32_t registers = 0;  // as LiveEffects
  /// No code may be put in front of it: it belongs to the instruction before it.
  bool is_bound = false;

  bool operator==(const LiveBefore&) const = default;
};

/// Where and how a block is counted.
struct CounterChoice {
  enum class Form : std::uint8_t {
    increment,    // changes flags, which are dead there
    in_register,  // changes registers, which are dead there
    spill,        // of registers to the stack
  };
  std::size_t index = 0;  // in front of this instruction of the block
  Form form = Form::spill;
  std::array<std::uint8_t, 3> registers{};  // of the last two, as many as the CPU needs

  bool operator==(const CounterChoice&) const = default;
};

}  // namespace sp::arch
