#pragma once

#include <cstdint>

namespace sp::core {

/// Whether a run finds out what is executed at all, instead of counting executions (--coverage).
enum class Coverage : std::uint8_t {
  off,
  function,  // which functions are entered
  block,     // which basic blocks
};

/// ELF addresses of a file, half open, that an earlier run has executed.
struct ReachedRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  bool operator==(const ReachedRange&) const = default;
};

}  // namespace sp::core
