#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "arch/aarch64/registers.h"
#include "arch/emulation.h"

// Arguments and results by the AAPCS64, section 6.8. Numbers of arguments begin at 0.
namespace sp::arch::aarch64 {

/// An integer or pointer among the arguments, when the function's first instruction is about to be
/// executed; nothing where it is on a stack that cannot be read.
[[nodiscard]] std::optional<std::uint64_t> argument(const Registers& registers, unsigned number,
                                                    MemoryAccess& memory);
/// What the function returns whose return is about to be executed.
[[nodiscard]] std::uint64_t result(const Registers& registers);
/// A double among the first 8 floating-point arguments, of the register set NT_PRFPREG. Number 0 is
/// also where a double is returned.
[[nodiscard]] std::optional<double> floating_value(std::span<const std::byte> set, unsigned number);

}  // namespace sp::arch::aarch64
