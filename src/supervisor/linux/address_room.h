#pragma once

#include <sys/types.h>

#include <cstdint>

namespace sp::supervisor {

/// How many bytes we may map in a process at once, so that the program does not miss them: all
/// there are, unless its address space is limited (RLIMIT_AS) or its memory is locked (mlockall(2):
/// what is mapped is there at once). The thread is traced.
[[nodiscard]] std::uint64_t room_for_us(pid_t tid);

}  // namespace sp::supervisor
