#pragma once

#include <cstdint>

#include "core/elf_image.h"

namespace sp::symbols {

/// The upper half of the ids of a file's functions: XXH32, seed 0, of the bytes of its build-id; of
/// a file without one, of the bytes of its executable segments, one behind the other, which takes
/// time. Neither is changed by strip(1).
[[nodiscard]] std::uint32_t module_hash(const core::ElfImage& image);

/// The same for every run and attach of one file. `elf_address` is the ELF virtual address of the
/// function's first instruction, of which the lower half is used.
[[nodiscard]] constexpr std::uint64_t function_id(std::uint32_t module_hash,
                                                  std::uint64_t elf_address) {
  constexpr unsigned kHalf = 32;
  return std::uint64_t{module_hash} << kHalf | static_cast<std::uint32_t>(elf_address);
}

}  // namespace sp::symbols
