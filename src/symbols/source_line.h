#pragma once

#include <cstdint>
#include <string>

namespace sp::symbols {

/// A line of source, with the file's path on the machine that compiled it.
struct SourceLine {
  std::string file;
  std::uint32_t line = 0;

  bool operator==(const SourceLine&) const = default;
};

}  // namespace sp::symbols
