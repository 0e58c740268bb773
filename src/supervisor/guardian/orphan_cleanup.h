#pragma once

#include <cstdint>
#include <map>

#include "core/fd.h"
#include "supervisor/guardian/journal.h"

namespace sp::supervisor {

using Memories = std::map<std::uint32_t, core::UniqueFd>;  // by the guardian's number of the space
using Handlers = std::map<std::uint32_t, std::uint64_t>;   // addresses of the handlers in them

/// The guardian's last work, after superprofiler was killed and the breakpoints that the board
/// names were taken away: those of children that it was not told of, and then the handlers.
void clean_up_orphans(const Journal& planted, const Memories& memories, const Handlers& handlers,
                      std::uint64_t superprofiler);

}  // namespace sp::supervisor
