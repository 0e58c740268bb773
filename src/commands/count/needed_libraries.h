#pragma once

#include <memory>
#include <string>
#include <vector>

#include "commands/count/function_patterns.h"

namespace sp::count {

/// The program at `path` and the libraries that it names (DT_NEEDED), and those that these name, as
/// far as they lie in their run paths, in $LD_LIBRARY_PATH or in the folders that all loaders
/// search. Nothing if it is no ELF file.
[[nodiscard]] std::vector<NamedFile> find_needed(const std::string& path);

}  // namespace sp::count
