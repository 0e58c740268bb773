#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

#include "core/address.h"
#include "core/stack.h"

namespace sp::supervisor {

/// Copies memory of the process that `tid` belongs to; works whether or not it is stopped. Returns
/// how many bytes were there, from `from` upwards without a hole: 0 where none are (EFAULT) or the
/// process is gone (ESRCH). process_vm_readv(2): 0.4 us for a page, 0.6 us for 16 KiB.
[[nodiscard]] std::size_t copy_memory(pid_t tid, core::Address from, std::span<std::byte> into);

/// Copies the stack of a thread into `raw` from the red zone below its sp upwards, as much as
/// raw.bytes has room for; raw.registers is set. Where the red zone lies outside of the mapping (sp
/// close to its lower end) the copy begins at sp.
void copy_stack(pid_t tid, core::RawStack& raw);

}  // namespace sp::supervisor
