#pragma once

#include <cstddef>
#include <vector>

#include "core/address.h"

namespace sp::arch {

/// A copy of a sequence of a load-exclusive up to its store-exclusive, which never ends well where
/// its thread is stopped within: each way out of it leads to a jump of its own behind it.
struct RelocatedAtomicSequence {
  std::vector<std::byte> code;
  struct Exit {
    std::size_t offset = 0;  // of the jump
    core::Address to;
  };
  std::vector<Exit> exits;
};

}  // namespace sp::arch
