#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/elf_image.h"

namespace sp::symbols {

/// Where code of a module calls functions that return a second time when a context that they have
/// saved is restored (setjmp, _setjmp, __sigsetjmp, getcontext): their stubs in .plt, and
/// themselves if the module holds them. ELF addresses, sorted.
[[nodiscard]] std::vector<std::uint64_t> find_returning_twice(
    const std::shared_ptr<const core::ElfImage>& image);

}  // namespace sp::symbols
