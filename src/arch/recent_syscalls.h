#pragma once

#include <array>
#include <string_view>

namespace sp::arch {

// Since Linux 5.1 new system calls have the same number on every CPU, starting at 424.
inline constexpr int kFirstRecentSyscall = 424;
// clang-format off
inline constexpr std::array<std::string_view, 44> kRecentSyscalls = {
    /* 424 */ "pidfd_send_signal", "io_uring_setup", "io_uring_enter", "io_uring_register",
    /* 428 */ "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "pidfd_open",
    /* 435 */ "clone3", "close_range", "openat2", "pidfd_getfd", "faccessat2", "process_madvise",
    /* 441 */ "epoll_pwait2", "mount_setattr", "quotactl_fd", "landlock_create_ruleset",
    /* 445 */ "landlock_add_rule", "landlock_restrict_self", "memfd_secret", "process_mrelease",
    /* 449 */ "futex_waitv", "set_mempolicy_home_node", "cachestat", "fchmodat2",
    /* 453 */ "map_shadow_stack", "futex_wake", "futex_wait", "futex_requeue", "statmount",
    /* 458 */ "listmount", "lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "mseal",
    /* 463 */ "setxattrat", "getxattrat", "listxattrat", "removexattrat", "open_tree_attr",
};
// clang-format on

}  // namespace sp::arch
