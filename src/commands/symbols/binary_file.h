#pragma once

#include <memory>
#include <string>

#include "core/elf_image.h"
#include "core/result.h"

namespace sp::symbols_command {

/// The program that a shell would start; "" if there is none.
[[nodiscard]] std::string found_on_path(const std::string& name);

/// Errors name the file and, where there is none, one that may have been meant.
[[nodiscard]] core::Result<std::shared_ptr<const core::ElfImage>> open_elf_file(
    const std::string& path);

/// The same of a program or library. Errors also: it is not linked yet, a core file, or a debug
/// file without code.
[[nodiscard]] core::Result<std::shared_ptr<const core::ElfImage>> open_program(
    const std::string& path);

}  // namespace sp::symbols_command
