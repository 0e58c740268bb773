#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "arch/left_code.h"
#include "core/sled.h"

namespace sp::xray {

/// Reads the code at an ELF virtual address; returns how many bytes of `into` it could fill.
using ReadCode = std::function<std::size_t(std::uint64_t address, std::span<std::byte> into)>;

/// The state of each sled, of a file for CPU `machine` (e_machine: x86_64 or aarch64).
[[nodiscard]] std::vector<arch::SledState> states_of(const std::vector<core::Sled>& sleds,
                                                     std::uint16_t machine, const ReadCode& read);

}  // namespace sp::xray
