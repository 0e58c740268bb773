#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/address.h"

namespace sp::arch::aarch64 {

/// Values that the instruction at `address` makes without reading memory and that may be addresses:
/// of adr, and of adrp with each add to its register that follows soon. `code` holds what follows.
[[nodiscard]] std::vector<std::uint64_t> code_pointers(std::span<const std::byte> code,
                                                       core::Address address);
/// The address of memory that adr, adrp with the first add or access behind it, or the load of a
/// literal names.
[[nodiscard]] std::optional<std::uint64_t> named_memory(std::span<const std::byte> code,
                                                        core::Address address);

}  // namespace sp::arch::aarch64
