#include "supervisor/linux/descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>

#include <charconv>
#include <string>
#include <string_view>

#include "core/fd.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

/// A number of /proc/PID/fdinfo/NUMBER; nothing if it cannot be read.
template <typename Number>
std::optional<Number> info_of(pid_t tid, int number, std::string_view name, int base) {
  const auto text = read_proc(fmt::format("/proc/{}/fdinfo/{}", tid, number));
  const auto field = text ? status_field(*text, name) : std::nullopt;
  Number value = 0;
  if (!field || std::from_chars(field->data(), field->data() + field->size(), value, base).ec !=
                    std::errc{}) {
    return std::nullopt;
  }
  return value;
}

/// The flags of open(2).
std::optional<unsigned> flags_of(pid_t tid, int number) {
  return info_of<unsigned>(tid, number, "flags", 8);
}

/// The files of /proc and its like have no blocks; a tmpfs without a limit has none either.
bool is_on_disk_or_in_memory(const std::string& path) {
  struct statfs system {};
  return ::statfs(path.c_str(), &system) == 0 &&
         (system.f_blocks > 0 || system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

bool is_terminal(dev_t device) {
  constexpr unsigned kTtys = 4;
  constexpr unsigned kConsoles = 5;
  constexpr unsigned kFirstPseudoTerminals = 136;
  constexpr unsigned kLastPseudoTerminals = 143;
  const unsigned number = major(device);
  return number == kTtys || number == kConsoles ||
         (number >= kFirstPseudoTerminals && number <= kLastPseudoTerminals);
}

Descriptor::Kind kind_of(const struct stat& status, const std::string& path) {
  using Kind = Descriptor::Kind;
  if (S_ISFIFO(status.st_mode)) {
    return Kind::pipe;
  }
  if (S_ISSOCK(status.st_mode)) {
    return Kind::stream_socket;
  }
  if (S_ISBLK(status.st_mode) || (S_ISREG(status.st_mode) && is_on_disk_or_in_memory(path))) {
    return Kind::file;
  }
  return S_ISCHR(status.st_mode) && is_terminal(status.st_rdev) ? Kind::terminal : Kind::other;
}

/// What exceeds the limit raises SIGXFSZ if it is tried once more.
bool has_size_limit(pid_t tid) {
  rlimit limit{};
  return ::prlimit(tid, RLIMIT_FSIZE, nullptr, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/// Reads the options of a socket through a copy of the descriptor, which is closed at once.
void look_at_socket(pid_t tid, int number, ino_t inode, Descriptor& descriptor) {
  const auto group = read_thread_group(tid);
  const core::UniqueFd process(group ? static_cast<int>(::syscall(SYS_pidfd_open, *group, 0)) : -1);
  const core::UniqueFd copy(
      process.valid() ? static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), number, 0))
                      : -1);
  struct stat status {};
  if (!copy.valid() || ::fstat(copy.get(), &status) != 0 || status.st_ino != inode) {
    return;
  }
  int type = SOCK_STREAM;
  socklen_t size = sizeof type;
  if (::getsockopt(copy.get(), SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type != SOCK_STREAM) {
    descriptor.kind = Descriptor::Kind::other;
  }
  const auto has_timeout = [&copy](int option) {
    timeval timeout{};
    socklen_t length = sizeof timeout;
    return ::getsockopt(copy.get(), SOL_SOCKET, option, &timeout, &length) == 0 &&
           (timeout.tv_sec != 0 || timeout.tv_usec != 0);
  };
  descriptor.waits = descriptor.waits && !has_timeout(SO_SNDTIMEO);
  descriptor.waits_to_receive = descriptor.waits_to_receive && !has_timeout(SO_RCVTIMEO);
}

}  // namespace

std::optional<Descriptor> look_at_descriptor(pid_t tid, std::uint64_t argument) {
  const int number = static_cast<int>(argument);
  const std::string path = fmt::format("/proc/{}/fd/{}", tid, number);
  struct stat status {};
  const auto flags = flags_of(tid, number);
  if (!flags || ::stat(path.c_str(), &status) != 0) {
    return std::nullopt;
  }
  const bool blocks = (*flags & O_NONBLOCK) == 0;
  Descriptor descriptor{kind_of(status, path), blocks, blocks};
  if (descriptor.kind == Descriptor::Kind::stream_socket) {
    look_at_socket(tid, number, status.st_ino, descriptor);
  } else if (descriptor.kind == Descriptor::Kind::file && has_size_limit(tid)) {
    descriptor.waits = false;
  }
  return descriptor;
}

std::optional<std::uint64_t> file_position(pid_t tid, int number) {
  return info_of<std::uint64_t>(tid, number, "pos", 10);
}

}  // namespace sp::supervisor
