#pragma once

#include <cstdint>
#include <span>

#include "supervisor/guardian/journal.h"
#include "supervisor/guardian/restoration.h"

namespace sp::supervisor {

/// The guardian's last work, after superprofiler was killed and what the journal lists was restored
/// in `memories`: restores that of orphaned children, which it was not told of, and then disarms
/// the injected SIGTRAP handlers. `held` is restore_memories()'s.
void clean_up_orphans(const Journal& journal, std::span<const SpaceMemory> memories,
                      std::uint64_t superprofiler, HeldGates& held);

}  // namespace sp::supervisor
