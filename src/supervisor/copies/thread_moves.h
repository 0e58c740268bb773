#pragma once

#include <cstdint>
#include <optional>

#include "arch/emulation.h"
#include "arch/native.h"
#include "core/address.h"
#include "core/function_copy.h"

namespace sp::supervisor {

/// A stopped thread's move between a function's original and its copy.
struct ThreadMove {
  arch::Native::Registers registers;  // to be set
  /// To be added to the thread's counter at `counter` (CopiedBlock::counter), so that the current
  /// execution of the block is counted once: by the side that it leaves, or by the one it goes on
  /// in.
  int adjust = 0;
  std::uint64_t counter = 0;
};

/// From the copy to the original instruction; half-done sequences of the copy's own are undone.
/// `memory` is the thread's. Nothing if pc is not at an instruction of the copy.
[[nodiscard]] std::optional<ThreadMove> move_to_original(const core::FunctionCopy& copy,
                                                         const arch::Native::Registers& registers,
                                                         arch::MemoryAccess& memory);

/// From the original to the copy. `is_counted`: this execution of the block is counted already.
/// Nothing if the thread is to go on in the original: at a call, or where no instruction begins.
[[nodiscard]] std::optional<ThreadMove> move_to_copy(const core::FunctionCopy& copy,
                                                     const arch::Native::Registers& registers,
                                                     bool is_counted);

}  // namespace sp::supervisor
