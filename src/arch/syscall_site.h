#pragma once

#include <cstddef>

namespace sp::arch {

/// Code that makes a certain system call; offsets in bytes within the code that was searched.
struct SyscallSite {
  int number = 0;             // of the call
  std::size_t number_at = 0;  // the instruction that loads it
  std::size_t call_at = 0;    // the system call instruction
  bool operator==(const SyscallSite&) const = default;
};

}  // namespace sp::arch
