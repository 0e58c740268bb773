#pragma once

#include <cstddef>
#include <span>

#include "core/address.h"

namespace sp::rewriter {

/// The nops and breakpoints that `code` begins with, which lies at `at`: what compilers put between
/// pieces of code. Behind a function's end and in front of the next one's begin, nobody executes
/// them.
[[nodiscard]] core::AddressRange find_padding(std::span<const std::byte> code, core::Address at);

}  // namespace sp::rewriter
