#pragma once

#include <sys/types.h>

#include <string>

#include "supervisor/startup/attach_facts.h"

namespace sp::supervisor {

/// Why we cannot attach to a process, and what the user can do about it.
struct Refusal {
  std::string fact;
  std::string fix;
};

/// Finds the reason in the facts. If they show none, gives the kernel's error.
[[nodiscard]] Refusal describe_refusal(const AttachFacts& facts);

/// One line, "FACT; FIX", from what /proc says now about a process to which attaching failed with
/// `error` (errno; ENOTSUP if it runs 32-bit code).
[[nodiscard]] std::string explain_attach_refusal(pid_t pid, int error);

}  // namespace sp::supervisor
