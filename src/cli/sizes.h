#pragma once

#include <cstdint>
#include <string_view>

#include "core/result.h"

namespace sp::cli {

/// "MB": 1e6; 0: there is no such unit.
[[nodiscard]] double bytes_in(std::string_view unit);

/// "500MB", "1GiB"; a bare number is in bytes. At least `least` bytes.
[[nodiscard]] core::Result<std::uint64_t> parse_size(std::string_view option, std::string_view text,
                                                     std::uint64_t least);

}  // namespace sp::cli
