#pragma once

#include <sys/types.h>

#include <string>

#include "supervisor/startup/attach_facts.h"

namespace sp::supervisor {

/// Why a process cannot be attached to, and what the user can do about it.
struct Refusal {
  std::string fact;
  std::string fix;
};

/// Where the facts show no reason, it says what the kernel said.
[[nodiscard]] Refusal describe_refusal(const AttachFacts& facts);

/// One line, "FACT; FIX", from what /proc says now about a process that refused us with `error`
/// (errno; ENOTSUP where it runs 32-bit code).
[[nodiscard]] std::string explain_attach_refusal(pid_t pid, int error);

}  // namespace sp::supervisor
