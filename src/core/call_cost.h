#pragma once

#include <cstdint>

#include "core/clock.h"

namespace sp::core {

/// What --learn has seen of a function.
struct CallCost {
  std::uint64_t begin = 0;    // ELF address
  std::uint64_t entries = 0;  // calls
  Duration cost{};            // that the target had of stops at its places
  Duration inside{};          // time in its calls and what they call, without stops
};

}  // namespace sp::core
