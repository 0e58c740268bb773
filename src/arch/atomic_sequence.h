#pragma once

#include <cstddef>
#include <vector>

#include "core/address.h"

namespace sp::arch {

/// A relocated sequence from a load-exclusive to its store-exclusive (LL/SC). The store fails if
/// the thread is stopped within the sequence. Each exit leads to a jump of its own behind the copy.
struct RelocatedAtomicSequence {
  std::vector<std::byte> code;
  struct Exit {
    std::size_t offset = 0;  // of the jump
    core::Address to;
  };
  std::vector<Exit> exits;
};

}  // namespace sp::arch
