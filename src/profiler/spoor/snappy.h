#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sp::profiler {

/// What one raw block of snappy holds, if it is undamaged and holds exactly `size` bytes. Nothing
/// is allocated for a size that a block of this length cannot have.
[[nodiscard]] std::optional<std::vector<std::byte>> unpack_snappy(std::span<const std::byte> block,
                                                                  std::size_t size);

}  // namespace sp::profiler
