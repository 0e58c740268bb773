#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "core/address.h"
#include "core/result.h"

namespace sp::supervisor {

/// Makes a stopped thread do one system call, in which it must not block, and puts its registers
/// and signal mask back. `instruction` is any place in its memory whose bytes are those of a system
/// call. The thread is about to go on in user code (a stop for a signal or an interrupt). The
/// answer is the kernel's: a negative errno where the call failed.
[[nodiscard]] core::Result<std::int64_t> remote_call(pid_t tid, core::Address instruction,
                                                     long number,
                                                     const std::array<std::uint64_t, 6>& arguments);

}  // namespace sp::supervisor
