#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <span>

#include "core/address.h"
#include "core/stack.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {

/// Copies memory of the process of `tid`, stopped or not. Returns how many bytes are mapped from
/// `from` upwards without a hole: 0 if none are (EFAULT) or the process is gone (ESRCH).
/// process_vm_readv(2): 0.4 us for a page, 0.6 us for 16 KiB.
[[nodiscard]] std::size_t copy_memory(pid_t tid, core::Address from, std::span<std::byte> into);

/// Copies a thread's stack into `raw`, from the red zone below its sp upwards, as much as raw.bytes
/// has space for. raw.registers must be set. If the red zone is not mapped (sp is close to the
/// lower end of the mapping), the copy begins at sp.
void copy_stack(pid_t tid, core::RawStack& raw);
/// All of the stack above `raw.registers.sp`, up to `deepest` bytes, in copies that grow for as
/// long as `goes_on()`.
[[nodiscard]] core::RawStack copy_whole_stack(pid_t tid, core::RawStack raw, std::size_t deepest,
                                              const std::function<bool()>& goes_on);

/// What can be known of a thread that sleeps in `call` without stopping it: its pc, its sp and at
/// most `bytes` of its stack. Torn if the thread wakes meanwhile.
[[nodiscard]] core::RawStack copy_sleeping_stack(pid_t tid, const BlockedCall& call,
                                                 std::size_t bytes);

}  // namespace sp::supervisor
