#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/elf_image.h"

namespace sp::symbols {

/// How often compilers have inlined the functions with names (linkage names, else plain ones) that
/// `is_wanted`: calls that no breakpoint sees. Nothing without DWARF; incomplete from `deadline`
/// on.
struct InlinedCopies {
  std::map<std::string, std::uint64_t> copies;  // by linkage name
  bool is_complete = true;
};
[[nodiscard]] InlinedCopies find_inlined_copies(
    const std::shared_ptr<const core::ElfImage>& image, const std::string& path,
    const std::string& root, const std::vector<std::string>& debug_directories,
    const std::function<bool(std::string_view)>& is_wanted, core::TimePoint deadline);

}  // namespace sp::symbols
