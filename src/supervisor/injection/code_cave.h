#pragma once

#include <sys/types.h>

#include <optional>

#include "core/address.h"

namespace sp::supervisor {

/// Finds a code cave in a process: unused bytes of an executable page, in which a few instructions
/// can be executed for a remote system call. Nothing if there is none.
[[nodiscard]] std::optional<core::Address> find_code_cave(pid_t tid);

}  // namespace sp::supervisor
