#pragma once

#include <array>
#include <string_view>

namespace sp::arch::x86_64 {

// By number, from 0 (asm/unistd_64.h); from 424 on see arch/recent_syscalls.h. "" is a number
// without a call.
// clang-format off
inline constexpr std::array<std::string_view, 335> kSyscallNames = {
    /*   0 */ "read", "write", "open", "close", "stat", "fstat", "lstat", "poll", "lseek", "mmap",
    /*  10 */ "mprotect", "munmap", "brk", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",
    /*  16 */ "ioctl", "pread64", "pwrite64", "readv", "writev", "access", "pipe", "select",
    /*  24 */ "sched_yield", "mremap", "msync", "mincore", "madvise", "shmget", "shmat", "shmctl",
    /*  32 */ "dup", "dup2", "pause", "nanosleep", "getitimer", "alarm", "setitimer", "getpid",
    /*  40 */ "sendfile", "socket", "connect", "accept", "sendto", "recvfrom", "sendmsg", "recvmsg",
    /*  48 */ "shutdown", "bind", "listen", "getsockname", "getpeername", "socketpair",
    /*  54 */ "setsockopt", "getsockopt", "clone", "fork", "vfork", "execve", "exit", "wait4",
    /*  62 */ "kill", "uname", "semget", "semop", "semctl", "shmdt", "msgget", "msgsnd", "msgrcv",
    /*  71 */ "msgctl", "fcntl", "flock", "fsync", "fdatasync", "truncate", "ftruncate", "getdents",
    /*  79 */ "getcwd", "chdir", "fchdir", "rename", "mkdir", "rmdir", "creat", "link", "unlink",
    /*  88 */ "symlink", "readlink", "chmod", "fchmod", "chown", "fchown", "lchown", "umask",
    /*  96 */ "gettimeofday", "getrlimit", "getrusage", "sysinfo", "times", "ptrace", "getuid",
    /* 103 */ "syslog", "getgid", "setuid", "setgid", "geteuid", "getegid", "setpgid", "getppid",
    /* 111 */ "getpgrp", "setsid", "setreuid", "setregid", "getgroups", "setgroups", "setresuid",
    /* 118 */ "getresuid", "setresgid", "getresgid", "getpgid", "setfsuid", "setfsgid", "getsid",
    /* 125 */ "capget", "capset", "rt_sigpending", "rt_sigtimedwait", "rt_sigqueueinfo",
    /* 130 */ "rt_sigsuspend", "sigaltstack", "utime", "mknod", "uselib", "personality", "ustat",
    /* 137 */ "statfs", "fstatfs", "sysfs", "getpriority", "setpriority", "sched_setparam",
    /* 143 */ "sched_getparam", "sched_setscheduler", "sched_getscheduler",
    /* 146 */ "sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval", "mlock",
    /* 150 */ "munlock", "mlockall", "munlockall", "vhangup", "modify_ldt", "pivot_root", "_sysctl",
    /* 157 */ "prctl", "arch_prctl", "adjtimex", "setrlimit", "chroot", "sync", "acct",
    /* 164 */ "settimeofday", "mount", "umount2", "swapon", "swapoff", "reboot", "sethostname",
    /* 171 */ "setdomainname", "iopl", "ioperm", "create_module", "init_module", "delete_module",
    /* 177 */ "get_kernel_syms", "query_module", "quotactl", "nfsservctl", "getpmsg", "putpmsg",
    /* 183 */ "afs_syscall", "tuxcall", "security", "gettid", "readahead", "setxattr", "lsetxattr",
    /* 190 */ "fsetxattr", "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr",
    /* 196 */ "flistxattr", "removexattr", "lremovexattr", "fremovexattr", "tkill", "time", "futex",
    /* 203 */ "sched_setaffinity", "sched_getaffinity", "set_thread_area", "io_setup", "io_destroy",
    /* 208 */ "io_getevents", "io_submit", "io_cancel", "get_thread_area", "lookup_dcookie",
    /* 213 */ "epoll_create", "epoll_ctl_old", "epoll_wait_old", "remap_file_pages", "getdents64",
    /* 218 */ "set_tid_address", "restart_syscall", "semtimedop", "fadvise64", "timer_create",
    /* 223 */ "timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete", "clock_settime",
    /* 228 */ "clock_gettime", "clock_getres", "clock_nanosleep", "exit_group", "epoll_wait",
    /* 233 */ "epoll_ctl", "tgkill", "utimes", "vserver", "mbind", "set_mempolicy", "get_mempolicy",
    /* 240 */ "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify",
    /* 245 */ "mq_getsetattr", "kexec_load", "waitid", "add_key", "request_key", "keyctl",
    /* 251 */ "ioprio_set", "ioprio_get", "inotify_init", "inotify_add_watch", "inotify_rm_watch",
    /* 256 */ "migrate_pages", "openat", "mkdirat", "mknodat", "fchownat", "futimesat",
    /* 262 */ "newfstatat", "unlinkat", "renameat", "linkat", "symlinkat", "readlinkat", "fchmodat",
    /* 269 */ "faccessat", "pselect6", "ppoll", "unshare", "set_robust_list", "get_robust_list",
    /* 275 */ "splice", "tee", "sync_file_range", "vmsplice", "move_pages", "utimensat",
    /* 281 */ "epoll_pwait", "signalfd", "timerfd_create", "eventfd", "fallocate",
    /* 286 */ "timerfd_settime", "timerfd_gettime", "accept4", "signalfd4", "eventfd2",
    /* 291 */ "epoll_create1", "dup3", "pipe2", "inotify_init1", "preadv", "pwritev",
    /* 297 */ "rt_tgsigqueueinfo", "perf_event_open", "recvmmsg", "fanotify_init", "fanotify_mark",
    /* 302 */ "prlimit64", "name_to_handle_at", "open_by_handle_at", "clock_adjtime", "syncfs",
    /* 307 */ "sendmmsg", "setns", "getcpu", "process_vm_readv", "process_vm_writev", "kcmp",
    /* 313 */ "finit_module", "sched_setattr", "sched_getattr", "renameat2", "seccomp", "getrandom",
    /* 319 */ "memfd_create", "kexec_file_load", "bpf", "execveat", "userfaultfd", "membarrier",
    /* 325 */ "mlock2", "copy_file_range", "preadv2", "pwritev2", "pkey_mprotect", "pkey_alloc",
    /* 331 */ "pkey_free", "statx", "io_pgetevents", "rseq",
};
// clang-format on

}  // namespace sp::arch::x86_64
