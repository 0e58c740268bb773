#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/mapped_file.h"
#include "core/result.h"

namespace sp::symbols {

/// The ELF file inside a .gnu_debugdata section (xz; Fedora's binaries carry their .symtab so).
/// Errors: not an xz stream, cut off, or unpacking to more than `limit` bytes.
[[nodiscard]] core::Result<std::shared_ptr<const core::MappedFile>> unpack_mini_debug_info(
    std::span<const std::byte> packed, std::size_t limit = std::size_t{256} << 20U);

}  // namespace sp::symbols
