#include "supervisor/linux/proc_files.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

#include "arch/native.h"
#include "core/fd.h"

namespace sp::supervisor {
namespace {

template <typename Number>
std::optional<Number> to_number(std::string_view text, int base = 10) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  return value;
}

/// Removes the first word from `text` and returns it; blanks, tabs and newlines separate words.
std::string_view take_word(std::string_view& text) {
  const auto begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) {
    text = {};
    return {};
  }
  const auto end = text.find_first_of(" \t\n", begin);
  const auto word = text.substr(begin, end == std::string_view::npos ? end : end - begin);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end);
  return word;
}

std::optional<std::uint64_t> hex_field(std::string_view status, std::string_view name) {
  const auto field = status_field(status, name);
  return field ? to_number<std::uint64_t>(*field, 16) : std::nullopt;
}

/// A hex number with 0x, as /proc/.../syscall prints it.
std::uint64_t prefixed_hex(std::string_view word) {
  if (word.starts_with("0x")) {
    word.remove_prefix(2);
  }
  return to_number<std::uint64_t>(word, 16).value_or(0);
}

}  // namespace

namespace {

/// The kernel gives such a file in one piece, if there is room for it.
bool comes_whole(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "stat" || name == "status" || name == "comm" || name == "cmdline" ||
         name == "syscall" || name == "schedstat";
}

}  // namespace

core::Result<std::string> read_proc(const std::string& path) {
  const core::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return core::fail_errno("opening " + path);
  }
  std::string text;
  std::array<char, 16384> buffer;
  while (true) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return core::fail_errno("reading " + path);
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (got == 0 || (static_cast<std::size_t>(got) < buffer.size() && comes_whole(path))) {
      return text;
    }
  }
}

core::Result<std::vector<pid_t>> list_threads(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/task", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (!directory) {
    return core::fail_errno("opening " + path);
  }
  std::vector<pid_t> tids;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (const auto tid = to_number<pid_t>(entry->d_name)) {
      tids.push_back(*tid);
    }
  }
  return tids;
}

std::optional<TaskStat> parse_stat(std::string_view text) {
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= text.size()) {
    return std::nullopt;
  }
  text.remove_prefix(name_end + 1);
  TaskStat stat;
  // Fields are counted from 1; the name was field 2.
  for (int field = 3; field <= 39; ++field) {
    const std::string_view word = take_word(text);
    if (word.empty()) {
      return std::nullopt;
    }
    if (field == 3) {
      stat.state = word.front();
    } else if (field == 4) {
      stat.parent = to_number<pid_t>(word).value_or(0);
    } else if (field == 9) {
      stat.flags = to_number<std::uint64_t>(word).value_or(0);
    } else if (field == 16 || field == 17) {
      stat.children_cpu += to_number<std::uint64_t>(word).value_or(0);
    } else if (field == 22) {
      stat.start_time = to_number<std::uint64_t>(word).value_or(0);
    } else if (field == 39) {
      stat.processor = to_number<int>(word).value_or(0);
    }
  }
  return stat;
}

std::optional<TaskStat> read_stat(pid_t pid) {
  const auto text = read_proc(fmt::format("/proc/{}/stat", pid));
  return text ? parse_stat(*text) : std::nullopt;
}

std::optional<std::string_view> status_field(std::string_view status, std::string_view name) {
  while (!status.empty()) {
    const auto end = status.find('\n');
    std::string_view line = status.substr(0, end);
    if (line.starts_with(name) && line.substr(name.size()).starts_with(":")) {
      line.remove_prefix(name.size() + 1);
      const auto value = line.find_first_not_of(" \t");
      return value == std::string_view::npos ? std::string_view{} : line.substr(value);
    }
    status.remove_prefix(end == std::string_view::npos ? status.size() : end + 1);
  }
  return std::nullopt;
}

bool SignalMasks::have_effect(std::uint64_t signals) const {
  // SIGCONT is ignored if nothing is stopped; signal(7).
  constexpr std::uint64_t kIgnoredByDefault =
      signal_bit(SIGCHLD) | signal_bit(SIGURG) | signal_bit(SIGWINCH) | signal_bit(SIGCONT);
  return (signals & (caught | ~(ignored | kIgnoredByDefault))) != 0;
}

std::optional<SignalMasks> parse_signal_masks(std::string_view status) {
  const auto thread_pending = hex_field(status, "SigPnd");
  const auto process_pending = hex_field(status, "ShdPnd");
  const auto blocked = hex_field(status, "SigBlk");
  const auto ignored = hex_field(status, "SigIgn");
  const auto caught = hex_field(status, "SigCgt");
  if (!thread_pending || !process_pending || !blocked || !ignored || !caught) {
    return std::nullopt;
  }
  return SignalMasks{*thread_pending, *process_pending, *blocked, *ignored, *caught};
}

std::optional<SignalMasks> read_signal_masks(pid_t tid) {
  const auto status = read_proc(fmt::format("/proc/{}/status", tid));
  return status ? parse_signal_masks(*status) : std::nullopt;
}

bool has_handler(pid_t tid, int signal) {
  const auto masks = read_signal_masks(tid);
  return !masks || (masks->caught & signal_bit(signal)) != 0;
}

std::optional<pid_t> read_thread_group(pid_t tid) {
  if (::syscall(SYS_tgkill, tid, tid, 0) == 0) {
    return tid;  // it leads its own; a file takes twenty times as long
  }
  const auto status = read_proc(fmt::format("/proc/{}/status", tid));
  const auto field = status ? status_field(*status, "Tgid") : std::nullopt;
  return field ? to_number<pid_t>(*field) : std::nullopt;
}

std::vector<std::string> read_command_line(pid_t pid) {
  std::vector<std::string> words;
  const auto text = read_proc(fmt::format("/proc/{}/cmdline", pid));
  if (!text) {
    return words;
  }
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto end = rest.find('\0');
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return words;
}

bool runs_32_bit_code(pid_t pid) {
  const core::UniqueFd fd(::open(fmt::format("/proc/{}/exe", pid).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<unsigned char, EI_NIDENT> ident{};
  return fd.valid() && ::read(fd.get(), ident.data(), ident.size()) == EI_NIDENT &&
         ident[EI_CLASS] == ELFCLASS32;
}

std::string read_name(pid_t pid, pid_t tid) {
  auto text = read_proc(fmt::format("/proc/{}/task/{}/comm", pid, tid));
  if (!text) {
    return "";
  }
  while (!text->empty() && text->back() == '\n') {
    text->pop_back();
  }
  return *text;
}

std::optional<BlockedCall> parse_syscall(std::string_view text) {
  // "running", "-1 SP PC" or "NUMBER ARG0 ... ARG5 SP PC".
  const auto number = to_number<int>(take_word(text));
  if (!number) {
    return std::nullopt;
  }
  BlockedCall call;
  call.number = *number;
  if (*number >= 0) {
    for (std::uint64_t& argument : call.arguments) {
      argument = prefixed_hex(take_word(text));
    }
  }
  call.sp = prefixed_hex(take_word(text));
  call.pc = prefixed_hex(take_word(text));
  return call;
}

std::string name_of_call(int number) {
  if (number < 0) {
    return "page fault";
  }
  const auto name = arch::Native::syscall_name(number);
  return name.empty() ? fmt::format("syscall {}", number) : std::string(name);
}

std::optional<BlockedCall> read_syscall(pid_t tid) {
  const auto text = read_proc(fmt::format("/proc/{}/syscall", tid));
  return text ? parse_syscall(*text) : std::nullopt;
}

bool is_frozen(pid_t tid) {
  const auto stat = read_stat(tid);
  const auto call = stat && stat->state == 'S' ? read_syscall(tid) : std::nullopt;
  return call && call->number < 0;  // outside of system calls nothing else waits like that
}

bool is_memory_file(pid_t tid, int fd) {
  std::array<char, 64> path{};
  const ssize_t size =
      ::readlink(fmt::format("/proc/{}/fd/{}", tid, fd).c_str(), path.data(), path.size());
  const std::string_view link(path.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return link.starts_with("/proc/") && link.ends_with("/mem");
}

}  // namespace sp::supervisor
