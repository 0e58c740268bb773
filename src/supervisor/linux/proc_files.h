#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace sp::supervisor {

/// Reads files of /proc/PID; proc(5). Each call can fail with ENOENT or ESRCH, because the process
/// can end at any time.

[[nodiscard]] core::Result<std::string> read_proc(const std::string& path);

/// The tids under /proc/PID/task.
[[nodiscard]] core::Result<std::vector<pid_t>> list_threads(pid_t pid);

/// Fields of /proc/.../stat that the supervisor needs.
struct TaskStat {
  char state = '?';  // R S D T t Z X I
  pid_t parent = 0;
  std::uint64_t flags = 0;  // PF_* of the kernel's linux/sched.h
  int processor = 0;
  std::uint64_t start_time =
      0;  // clock ticks since boot; identifies a process together with the pid
  std::uint64_t children_cpu = 0;  // clock ticks of the process's children that it has waited for
};
/// Parses the text of a stat file; nothing if it is not one. The command's name may contain any
/// character, even ')'.
[[nodiscard]] std::optional<TaskStat> parse_stat(std::string_view text);
[[nodiscard]] std::optional<TaskStat> read_stat(pid_t pid);

/// The value of a line "NAME:\tVALUE" of a status file; nothing if there is none.
[[nodiscard]] std::optional<std::string_view> status_field(std::string_view status,
                                                           std::string_view name);

/// The descriptor of the thread's process is a /proc/PID/mem.
[[nodiscard]] bool is_memory_file(pid_t tid, int fd);

/// The bit of a signal in the kernel's masks.
[[nodiscard]] constexpr std::uint64_t signal_bit(int signal) {
  return std::uint64_t{1} << (signal - 1);
}

/// The masks in /proc/.../status, bit N-1 for signal N.
struct SignalMasks {
  std::uint64_t thread_pending = 0;
  std::uint64_t process_pending = 0;
  std::uint64_t blocked = 0;
  std::uint64_t ignored = 0;
  std::uint64_t caught = 0;

  /// Whether one of these signals has a handler or is not ignored.
  [[nodiscard]] bool have_effect(std::uint64_t signals) const;
};
[[nodiscard]] std::optional<SignalMasks> parse_signal_masks(std::string_view status);
[[nodiscard]] std::optional<SignalMasks> read_signal_masks(pid_t tid);
/// Whether the thread's process has a handler for the signal; true if that cannot be told.
[[nodiscard]] bool has_handler(pid_t tid, int signal);

/// The thread group that a tid belongs to.
[[nodiscard]] std::optional<pid_t> read_thread_group(pid_t tid);

/// The words of the command line; none for a kernel thread or a zombie.
[[nodiscard]] std::vector<std::string> read_command_line(pid_t pid);

/// Whether the program file is a 32-bit ELF file; false if it cannot be read.
[[nodiscard]] bool runs_32_bit_code(pid_t pid);

/// The thread's name (comm); "" if the thread is gone.
[[nodiscard]] std::string read_name(pid_t pid, pid_t tid);

/// A line of /proc/PID/task/TID/syscall.
struct BlockedCall {
  int number = -1;  // -1: blocked, but not in a system call (a page fault)
  std::array<std::uint64_t, 6> arguments{};
  std::uint64_t sp = 0;
  std::uint64_t pc = 0;
};
/// Nothing if the thread runs.
[[nodiscard]] std::optional<BlockedCall> parse_syscall(std::string_view text);
/// "futex"; "syscall 999" where the number is not known; "page fault" outside of system calls.
[[nodiscard]] std::string name_of_call(int number);
/// Nothing if the thread runs, or is gone.
[[nodiscard]] std::optional<BlockedCall> read_syscall(pid_t tid);
/// The thread would run, but a freezer (cgroup.freeze of version 2, a paused container) holds it,
/// for nobody knows how long. PTRACE_INTERRUPT stops it.
[[nodiscard]] bool is_frozen(pid_t tid);

}  // namespace sp::supervisor
