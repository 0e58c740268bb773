#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include "core/result.h"

namespace sp::run_files {

/// Writes to `path`, "-" for stdout. A regular file gets its name when it is complete, so that a
/// reader finds the old one, the new one, or none. Returns how many bytes were written.
[[nodiscard]] core::Result<std::uint64_t> write_output(
    const std::string& path, const std::function<void(std::ostream&)>& writer);

}  // namespace sp::run_files
