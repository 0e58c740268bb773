#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "arch/aarch64/registers.h"
#include "arch/left_code.h"
#include "core/sled.h"

namespace sp::arch::aarch64 {

/// What an event's sled says. `before`: its bytes from the first one up to its call, empty if
/// control is at that call; `registers` at the first of them. Compilers mean all registers to be
/// moved at once, while the code moves one after the other and may lose some; so does a call.
/// Nothing if there is other code in it.
[[nodiscard]] std::optional<SledEvent> sled_event(std::span<const std::byte> before,
                                                  core::SledKind kind, const Registers& registers);

}  // namespace sp::arch::aarch64
