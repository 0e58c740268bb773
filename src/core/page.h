#pragma once

#include <cstdint>

namespace sp::core {

/// Bytes of the smallest page; every other page size is a multiple of it.
inline constexpr std::uint64_t kPageSize = 4096;
/// The default of vm.mmap_min_addr.
inline constexpr std::uint64_t kLowestMapping = std::uint64_t{1} << 16U;

}  // namespace sp::core
