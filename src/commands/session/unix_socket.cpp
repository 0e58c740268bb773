#include "commands/session/unix_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace sp::session {
namespace {

using core::Result;
using core::UniqueFd;

constexpr int kBacklog = 64;

const sockaddr* generic(const sockaddr_un& address) {
  return static_cast<const sockaddr*>(static_cast<const void*>(&address));
}

/// Nothing: the path is too long.
Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return core::fail("the path of a socket is too long", ENAMETOOLONG);
  }
  std::memcpy(static_cast<void*>(address.sun_path), path.data(), path.size());
  return address;
}

/// Others of the user's group could connect between bind(2) and chmod(2). Called before there are
/// threads.
int bind_privately(int fd, const sockaddr_un& address) {
  const mode_t before = ::umask(0177);
  const int result = ::bind(fd, generic(address), sizeof(address));
  const int error = errno;
  ::umask(before);
  return result == 0 ? 0 : error;
}

/// Removes a socket that a dead listener has left.
Result<void> remove_stale(const std::string& path) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0) {
    return {};
  }
  if (!S_ISSOCK(there.st_mode)) {
    return core::fail(fmt::format("{} exists and is no socket; name another path", path));
  }
  const auto live = connect_to(path, false);
  if (live || live.error().code == EAGAIN) {
    return core::fail(
        fmt::format("{} is in use by another process that listens; name another path", path));
  }
  if (live.error().code != ECONNREFUSED) {
    return core::fail("looking at " + path, live.error().code);
  }
  ::unlink(path.c_str());
  return {};
}

}  // namespace

Result<UniqueFd> connect_to(const std::string& path, bool may_wait) {
  const auto address = address_of(path);
  if (!address) {
    return tl::unexpected(address.error());
  }
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (may_wait ? 0 : SOCK_NONBLOCK), 0));
  if (!fd.valid() || ::connect(fd.get(), generic(*address), sizeof(*address)) != 0) {
    return core::fail_errno("connecting");
  }
  return fd;
}

Result<ListeningSocket> ListeningSocket::listen_at(const std::string& path) {
  const auto address = address_of(path);
  if (!address) {
    return tl::unexpected(address.error());
  }
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int error = fd.valid() ? bind_privately(fd.get(), *address) : errno;
  if (error == EADDRINUSE) {
    if (auto removed = remove_stale(path); !removed) {
      return tl::unexpected(removed.error());
    }
    error = bind_privately(fd.get(), *address);
  }
  struct stat made {};
  if (error == 0 && (::listen(fd.get(), kBacklog) != 0 || ::lstat(path.c_str(), &made) != 0)) {
    error = errno;
  }
  if (error != 0) {
    return core::fail("making the socket " + path, error);
  }
  std::error_code unknown;
  const std::string absolute = std::filesystem::absolute(path, unknown).string();
  return ListeningSocket(std::move(fd), unknown ? path : absolute, made.st_dev, made.st_ino);
}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::exchange(other.path_, {})),
      device_(other.device_),
      inode_(other.inode_) {}

ListeningSocket::~ListeningSocket() { close(); }

void ListeningSocket::close() {
  if (!fd_.valid()) {
    return;
  }
  struct stat there {};
  if (::lstat(path_.c_str(), &there) == 0 && there.st_dev == device_ && there.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
  fd_.reset();
}

}  // namespace sp::session
