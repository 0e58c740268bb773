#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <vector>

#include "core/fd.h"

namespace sp::supervisor {

/// A process that nobody told the guardian of.
struct OrphanedChild {
  pid_t pid = 0;
  core::UniqueFd memory;
  std::uint32_t space = 0;  // of whose breakpoints it has a copy
  std::uint64_t handler = 0;
};

/// Children that were forked just before superprofiler was killed, or since then: each has a copy
/// of its parent's breakpoints, and of the page of rescue.h, which says whose they are. `handlers`
/// are the places of such pages, `known` are processes that are none. Yama may hide some from us,
/// for we are not their ancestor.
[[nodiscard]] std::vector<OrphanedChild> find_orphaned_children(
    const std::set<std::uint64_t>& handlers, std::uint64_t superprofiler,
    const std::set<pid_t>& known);

}  // namespace sp::supervisor
