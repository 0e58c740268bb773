#pragma once

#include <array>
#include <string_view>

namespace sp::arch::aarch64 {

// By number, from 0 (asm-generic/unistd.h, with the choices of the kernel's arm64 unistd.h); from
// 424 on see arch/recent_syscalls.h. "" is a number without a call.
// clang-format off
inline constexpr std::array<std::string_view, 295> kSyscallNames = {
    /*   0 */ "io_setup", "io_destroy", "io_submit", "io_cancel", "io_getevents", "setxattr",
    /*   6 */ "lsetxattr", "fsetxattr", "getxattr", "lgetxattr", "fgetxattr", "listxattr",
    /*  12 */ "llistxattr", "flistxattr", "removexattr", "lremovexattr", "fremovexattr", "getcwd",
    /*  18 */ "lookup_dcookie", "eventfd2", "epoll_create1", "epoll_ctl", "epoll_pwait", "dup",
    /*  24 */ "dup3", "fcntl", "inotify_init1", "inotify_add_watch", "inotify_rm_watch", "ioctl",
    /*  30 */ "ioprio_set", "ioprio_get", "flock", "mknodat", "mkdirat", "unlinkat", "symlinkat",
    /*  37 */ "linkat", "renameat", "umount2", "mount", "pivot_root", "nfsservctl", "statfs",
    /*  44 */ "fstatfs", "truncate", "ftruncate", "fallocate", "faccessat", "chdir", "fchdir",
    /*  51 */ "chroot", "fchmod", "fchmodat", "fchownat", "fchown", "openat", "close", "vhangup",
    /*  59 */ "pipe2", "quotactl", "getdents64", "lseek", "read", "write", "readv", "writev",
    /*  67 */ "pread64", "pwrite64", "preadv", "pwritev", "sendfile", "pselect6", "ppoll",
    /*  74 */ "signalfd4", "vmsplice", "splice", "tee", "readlinkat", "newfstatat", "fstat", "sync",
    /*  82 */ "fsync", "fdatasync", "sync_file_range", "timerfd_create", "timerfd_settime",
    /*  87 */ "timerfd_gettime", "utimensat", "acct", "capget", "capset", "personality", "exit",
    /*  94 */ "exit_group", "waitid", "set_tid_address", "unshare", "futex", "set_robust_list",
    /* 100 */ "get_robust_list", "nanosleep", "getitimer", "setitimer", "kexec_load", "init_module",
    /* 106 */ "delete_module", "timer_create", "timer_gettime", "timer_getoverrun", "timer_settime",
    /* 111 */ "timer_delete", "clock_settime", "clock_gettime", "clock_getres", "clock_nanosleep",
    /* 116 */ "syslog", "ptrace", "sched_setparam", "sched_setscheduler", "sched_getscheduler",
    /* 121 */ "sched_getparam", "sched_setaffinity", "sched_getaffinity", "sched_yield",
    /* 125 */ "sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval",
    /* 128 */ "restart_syscall", "kill", "tkill", "tgkill", "sigaltstack", "rt_sigsuspend",
    /* 134 */ "rt_sigaction", "rt_sigprocmask", "rt_sigpending", "rt_sigtimedwait",
    /* 138 */ "rt_sigqueueinfo", "rt_sigreturn", "setpriority", "getpriority", "reboot", "setregid",
    /* 144 */ "setgid", "setreuid", "setuid", "setresuid", "getresuid", "setresgid", "getresgid",
    /* 151 */ "setfsuid", "setfsgid", "times", "setpgid", "getpgid", "getsid", "setsid",
    /* 158 */ "getgroups", "setgroups", "uname", "sethostname", "setdomainname", "getrlimit",
    /* 164 */ "setrlimit", "getrusage", "umask", "prctl", "getcpu", "gettimeofday", "settimeofday",
    /* 171 */ "adjtimex", "getpid", "getppid", "getuid", "geteuid", "getgid", "getegid", "gettid",
    /* 179 */ "sysinfo", "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify",
    /* 185 */ "mq_getsetattr", "msgget", "msgctl", "msgrcv", "msgsnd", "semget", "semctl",
    /* 192 */ "semtimedop", "semop", "shmget", "shmctl", "shmat", "shmdt", "socket", "socketpair",
    /* 200 */ "bind", "listen", "accept", "connect", "getsockname", "getpeername", "sendto",
    /* 207 */ "recvfrom", "setsockopt", "getsockopt", "shutdown", "sendmsg", "recvmsg", "readahead",
    /* 214 */ "brk", "munmap", "mremap", "add_key", "request_key", "keyctl", "clone", "execve",
    /* 222 */ "mmap", "fadvise64", "swapon", "swapoff", "mprotect", "msync", "mlock", "munlock",
    /* 230 */ "mlockall", "munlockall", "mincore", "madvise", "remap_file_pages", "mbind",
    /* 236 */ "get_mempolicy", "set_mempolicy", "migrate_pages", "move_pages", "rt_tgsigqueueinfo",
    /* 241 */ "perf_event_open", "accept4", "recvmmsg", "", "", "", "", "", "", "", "", "", "", "",
    /* 255 */ "", "", "", "", "", "wait4", "prlimit64", "fanotify_init", "fanotify_mark",
    /* 264 */ "name_to_handle_at", "open_by_handle_at", "clock_adjtime", "syncfs", "setns",
    /* 269 */ "sendmmsg", "process_vm_readv", "process_vm_writev", "kcmp", "finit_module",
    /* 274 */ "sched_setattr", "sched_getattr", "renameat2", "seccomp", "getrandom", "memfd_create",
    /* 280 */ "bpf", "execveat", "userfaultfd", "membarrier", "mlock2", "copy_file_range",
    /* 286 */ "preadv2", "pwritev2", "pkey_mprotect", "pkey_alloc", "pkey_free", "statx",
    /* 292 */ "io_pgetevents", "rseq", "kexec_file_load",
};
// clang-format on

}  // namespace sp::arch::aarch64
