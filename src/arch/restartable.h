#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace sp::arch {

// Calls that return a bare -EINTR when a stop wakes them (signal(7), "Interruption of system calls
// and library functions by stop signals", and those with a socket timeout), and that have had no
// effect when they do: if they transferred something, they return the count instead. Repeating the
// call is therefore safe. A relative timeout starts again, so the sampler does not stop sleeping
// threads and repeats calls only if its stop interrupted a thread that was about to sleep.
//
// Not listed: close and dup (the descriptor is gone after EINTR), nanosleep, clock_nanosleep,
// rt_sigsuspend and pause (the kernel restarts them by itself with the remaining time, so that a
// stop never causes a bare EINTR), open, ioctl, splice and sendfile (may have had a partial
// effect), fallocate (starts from zero each time, so that frequent stops would keep it from
// finishing).
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

/// How a call that a signal interrupted ends if a handler runs.
enum class AfterHandler {
  unknown,         // or already decided
  ends,            // returns EINTR
  by_the_handler,  // restarts if the handler has SA_RESTART, else returns EINTR
};

}  // namespace sp::arch
