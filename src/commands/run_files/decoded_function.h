#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/elf_image.h"

namespace sp::run_files {

/// The code of a function, read from its first byte to its last.
struct DecodedFunction {
  std::uint64_t instructions = 0;
  std::vector<std::uint64_t> jumps_out;   // where direct jumps and branches leave it to
  std::vector<std::uint64_t> calls;       // the destinations of direct calls
  std::vector<std::uint64_t> call_slots;  // where the destinations of other calls are stored
};

/// Of x86-64 or aarch64 code in [begin, end), ELF virtual addresses. Nothing if the file has no
/// bytes there, if it is of another CPU, or if something there is no instruction.
[[nodiscard]] std::optional<DecodedFunction> decode_function(const core::ElfImage& image,
                                                             std::uint64_t begin,
                                                             std::uint64_t end);

}  // namespace sp::run_files
