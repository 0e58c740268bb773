#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/left_code.h"
#include "core/address.h"
#include "core/sled.h"

namespace sp::arch::x86_64 {

/// `version`: of the sled's entry in the map.
[[nodiscard]] SledShape sled_shape(core::SledKind kind, std::uint8_t version);

/// `bytes`: from the sled's first one on, as many as its shape's size or more.
[[nodiscard]] SledState sled_state(std::span<const std::byte> bytes, core::SledKind kind,
                                   std::uint8_t version);

/// How many bytes of NOPs, of any lengths, `bytes` begins with.
[[nodiscard]] std::size_t nop_bytes(std::span<const std::byte> bytes);

/// `bytes`: the code at `address`.
[[nodiscard]] HookCall hook_call(std::span<const std::byte> bytes, core::Address address);

}  // namespace sp::arch::x86_64
