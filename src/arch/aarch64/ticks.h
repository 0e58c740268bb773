#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sp::arch::aarch64 {

/// No copies write events on this CPU.
inline std::uint64_t ticks() { return 0; }
inline constexpr std::array<std::byte, 4> kTicksInstruction{};

}  // namespace sp::arch::aarch64
