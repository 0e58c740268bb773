#pragma once

#include <cstdint>

#include "supervisor/guardian/restoration.h"

/// The page of the injected SIGTRAP handler (breakpoints/trap_handler.h), as the guardian changes
/// it once superprofiler is dead. Each function checks first that the page is that superprofiler's:
/// by now another one may have attached, with a handler at the same address.
namespace sp::supervisor {

/// From now on the handler takes every trap for the program's own.
void disarm_handler(const SpaceMemory& memory, std::uint64_t superprofiler);
/// While `patient`, threads in the handler wait for the guardian, however long it takes.
void set_patience(const SpaceMemory& memory, std::uint64_t superprofiler, bool patient);

}  // namespace sp::supervisor
