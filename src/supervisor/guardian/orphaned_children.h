#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <vector>

#include "core/fd.h"

namespace sp::supervisor {

/// A forked child with breakpoints that the guardian was not told of.
struct OrphanedChild {
  pid_t pid = 0;
  core::UniqueFd memory;
  std::uint32_t space = 0;    // the address space whose breakpoints it has copies of
  std::uint64_t handler = 0;  // address of its copy of the injected handler
};

/// Finds children that were forked just before superprofiler was killed, or since then. Each has
/// copies of its parent's breakpoints, and of the page with the injected SIGTRAP handler
/// (breakpoints/trap_handler.h), which says whose they are. `handlers` are the addresses of such
/// pages; `known` are processes to leave out. Yama may hide some from us, for we are not their
/// ancestor.
[[nodiscard]] std::vector<OrphanedChild> find_orphaned_children(
    const std::set<std::uint64_t>& handlers, std::uint64_t superprofiler,
    const std::set<pid_t>& known);

}  // namespace sp::supervisor
