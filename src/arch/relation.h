#pragma once

#include <cstdint>

namespace sp::arch {

/// What a conditional branch tests about a comparison of a and b.
enum class Relation : std::uint8_t {
  above,  // a > b, unsigned
  above_or_equal,
  below,
  below_or_equal,
  greater,  // signed
  greater_or_equal,
  less,
  less_or_equal,
  equal,
  not_equal,
  other,
};
[[nodiscard]] Relation opposite(Relation relation);

}  // namespace sp::arch
