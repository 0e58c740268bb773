#pragma once

#include <cstdint>
#include <optional>

#include "arch/emulation.h"
#include "arch/native.h"
#include "core/address.h"
#include "core/function_copy.h"

namespace sp::supervisor {

/// What a thread's move between a function's original and its copy changes of what the copy's
/// counters mean. `counter` is its block's (CopiedBlock::counter).
struct CountCorrection {
  std::uint64_t counter = 0;
  /// To be added to the block's executions, so that the current one is counted once: by the side
  /// that the thread leaves, or by the one it goes on in.
  int executions = 0;
  /// Of these, how many more did not come by a way within the copy.
  int arrivals = 0;
  /// How many more leave by a way within the copy than it has executions.
  int departures = 0;
  /// The counter of a branch that is right by one more; 0: none.
  std::uint64_t branch = 0;
  /// The counter of a table's entry that is right by one less; 0: none.
  std::uint64_t entry = 0;
};

/// A stopped thread's move between a function's original and its copy.
struct ThreadMove {
  arch::Native::Registers registers;  // to be set
  CountCorrection correction;
  bool is_transferred = false;  // core::CopyPoint's
  bool is_in_table = false;
};

/// From the copy to the original instruction; half-done sequences of the copy's own are undone.
/// `memory` is the thread's. Nothing if pc is not at an instruction of the copy. The rest of a
/// block is taken to be left as in the copy: where that is seen otherwise, or does not happen, see
/// unfinished().
[[nodiscard]] std::optional<ThreadMove> move_to_original(const core::FunctionCopy& copy,
                                                         const arch::Native::Registers& registers,
                                                         arch::MemoryAccess& memory);

/// A thread whose pc is in the original executes the rest of a block that the copy has counted, and
/// leaves it where others see that, or not at all: it is stopped for good. Nothing if it is not
/// within a block.
[[nodiscard]] std::optional<CountCorrection> unfinished(const core::FunctionCopy& copy,
                                                        core::Address pc);

/// A thread in the original stands between a landing's pad and its jump, which is taken away: what
/// begins the block will not be executed again. Nothing if it does not.
[[nodiscard]] std::optional<CountCorrection> behind_pad(const core::FunctionCopy& copy,
                                                        core::Address pc);

/// A thread stays in the original, at a kept instruction, when the function begins to run from the
/// copy; or sleeps in a system call there, and comes into the copy by the landing at `pc`.
/// `is_counted`: this execution of the block is counted already. Nothing if there is nothing to
/// correct.
[[nodiscard]] std::optional<CountCorrection> stay_in_original(const core::FunctionCopy& copy,
                                                              core::Address pc, bool is_counted);

/// From the original to the copy. `is_counted`: this execution of the block is counted already.
/// Nothing if the thread is to go on in the original: at a call, or where no instruction begins.
[[nodiscard]] std::optional<ThreadMove> move_to_copy(const core::FunctionCopy& copy,
                                                     const arch::Native::Registers& registers,
                                                     bool is_counted);

}  // namespace sp::supervisor
