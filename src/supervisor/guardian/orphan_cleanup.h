#pragma once

#include <cstdint>
#include <map>

#include "core/fd.h"
#include "supervisor/guardian/journal.h"

namespace sp::supervisor {

using Memories = std::map<std::uint32_t, core::UniqueFd>;  // descriptors, by address space
using Handlers =
    std::map<std::uint32_t, std::uint64_t>;  // addresses of the injected handlers, by address space

/// The guardian's last work, after superprofiler was killed and the breakpoints in the journal were
/// removed: removes those of orphaned children, which it was not told of, and then disarms the
/// injected SIGTRAP handlers.
void clean_up_orphans(const Journal& journal, const Memories& memories, const Handlers& handlers,
                      std::uint64_t superprofiler);

}  // namespace sp::supervisor
