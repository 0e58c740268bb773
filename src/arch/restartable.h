#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace sp::arch {

// Calls that answer a bare -EINTR when a stop wakes them (signal(7), "Interruption of system calls
// and library functions by stop signals", and those with a socket timeout), and that have done
// nothing when they do: what they moved before, they report as a count instead. So making the call
// again is what the thread would have done anyway. A relative timeout then counts from the
// beginning, which is why a sampler leaves sleeping threads alone and uses this only for the stop
// that met a thread on its way to sleep.
//
// Left out on purpose: close and dup (the descriptor is gone after EINTR), nanosleep,
// clock_nanosleep, rt_sigsuspend and pause (the kernel restarts them by itself with the time that
// is left, so that a bare EINTR never comes from a stop), open, ioctl, splice and sendfile (may
// have done a part), fallocate (starts from zero each time, so that frequent stops would keep it
// from ever ending).
inline constexpr auto kRestartable = std::to_array<std::string_view>({
    "accept",  "accept4",    "connect",     "epoll_pwait",  "epoll_pwait2",    "epoll_wait",
    "futex",   "futex_wait", "futex_waitv", "io_getevents", "io_pgetevents",   "io_uring_enter",
    "msgrcv",  "msgsnd",     "poll",        "ppoll",        "pread64",         "preadv",
    "preadv2", "pselect6",   "pwrite64",    "pwritev",      "pwritev2",        "read",
    "readv",   "recvfrom",   "recvmmsg",    "recvmsg",      "rt_sigtimedwait", "select",
    "semop",   "semtimedop", "sendmmsg",    "sendmsg",      "sendto",          "write",
    "writev",
});
static_assert(std::ranges::is_sorted(kRestartable));

[[nodiscard]] inline bool is_restartable_call(std::string_view syscall) {
  return std::ranges::binary_search(kRestartable, syscall);
}

/// What becomes of a call that a signal interrupted where a handler runs.
enum class AfterHandler {
  unknown,         // or nothing is left to be decided
  ends,            // with EINTR
  by_the_handler,  // it is made again where that has SA_RESTART
};

}  // namespace sp::arch
