#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "supervisor/guardian/journal.h"

namespace sp::supervisor {

/// The memory of a process, whose bytes the journal lists under the number of an address space.
struct SpaceMemory {
  std::uint32_t space = 0;
  int descriptor = -1;
  /// The address of the injected SIGTRAP handler; 0 if it has none of ours.
  std::uint64_t handler = 0;
};

/// The process that the descriptor belongs to; 0 if that cannot be told.
[[nodiscard]] pid_t owner_of(const SpaceMemory& memory);

/// The original bytes of gates that threads were made to wait at, by address space and address. A
/// child that was forked meanwhile waits there, too.
using HeldGates =
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::array<std::byte, CodeChange::kLongest>>;

/// Undoes what the journal lists, in these memories, while threads run. Runs in the guardian
/// process once superprofiler, whose pid was `superprofiler`, is dead. In this order:
///   1. Breakpoints, but for gates: a thread that blocks SIGTRAP dies of one.
///   2. The longer changes. Where their first bytes are held, no thread needs a signal for it,
///      except at the few that are held by breakpoints. A grace period between the steps, two in
///      all, however many changes there are.
///   3. The gates. While one of those few breakpoints stands, no thread may come to block SIGTRAP.
/// Jumps out of copies are written with the same steps: before its original is back a thread that
/// leaves a copy waits at the original, or enters the copy once more.
/// Leaves alone what is neither original nor ours. `held` is kept from one call to the next.
void restore_memories(const Journal& journal, std::span<const SpaceMemory> memories,
                      std::uint64_t superprofiler, HeldGates& held);

}  // namespace sp::supervisor
