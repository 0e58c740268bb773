#pragma once

#include <cstdint>

namespace sp::arch {

/// Where a register's value comes from.
struct PointerSource {
  enum class Kind : std::uint8_t {
    kept,      // the instruction leaves the register as it is
    pointer,   // a whole one, from memory other than the stack
    copied,    // `from` holds it in front of the instruction
    computed,  // or else not known
  };
  Kind kind = Kind::computed;
  unsigned from = 0;
};

}  // namespace sp::arch
