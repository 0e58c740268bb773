#pragma once

#include <sys/types.h>

#include <optional>

#include "core/address.h"

namespace sp::supervisor {

/// The critical section that the stopped thread has announced (rseq(2)): the kernel sends it to its
/// abort handler if it is interrupted there. Nothing if there is none, or the kernel does not tell
/// (before Linux 5.13).
[[nodiscard]] std::optional<core::AddressRange> restartable_sequence(pid_t tid);

}  // namespace sp::supervisor
