#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/address.h"

namespace sp::arch::x86_64 {

/// Values that the instruction at `address` makes without reading memory and that may be addresses:
/// of lea with a rip-relative operand, and immediates of 32 bits and more.
[[nodiscard]] std::vector<std::uint64_t> code_pointers(std::span<const std::byte> code,
                                                       core::Address address);
/// The address of a rip-relative operand, which lea only names and others read or write.
[[nodiscard]] std::optional<std::uint64_t> named_memory(std::span<const std::byte> code,
                                                        core::Address address);

}  // namespace sp::arch::x86_64
