#pragma once

#include <cstddef>
#include <cstdint>

#include "core/clock.h"

namespace sp::cli {

/// --split: a run in parts. One of the two is above 0.
struct SplitOptions {
  core::Duration every{};
  std::uint64_t bytes = 0;  // of recording.sp and trace.sp
  std::size_t keep = 0;     // how many parts; 0: all
};

}  // namespace sp::cli
