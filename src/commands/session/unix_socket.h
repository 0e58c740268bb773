#pragma once

#include <sys/types.h>

#include <string>

#include "core/fd.h"
#include "core/result.h"

namespace sp::session {

/// A blocking stream socket that is connected to a listening one. Errors: those of connect(2);
/// EAGAIN if `may_wait` is false and others wait to be accepted.
[[nodiscard]] core::Result<core::UniqueFd> connect_to(const std::string& path,
                                                      bool may_wait = true);

/// A listening stream socket of mode 0600 with a name; the destructor removes the name, if it is
/// still this socket's.
class ListeningSocket {
 public:
  /// Replaces a socket that nobody listens at. Error with code 0: somebody does, or there is
  /// something else; else of a system call.
  [[nodiscard]] static core::Result<ListeningSocket> listen_at(const std::string& path);

  ListeningSocket(ListeningSocket&& other) noexcept;
  ListeningSocket& operator=(ListeningSocket&&) = delete;
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;
  ~ListeningSocket();

  /// Does not block.
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Closes it and removes the name.
  void close();

 private:
  ListeningSocket(core::UniqueFd fd, std::string path, dev_t device, ino_t inode)
      : fd_(std::move(fd)), path_(std::move(path)), device_(device), inode_(inode) {}

  core::UniqueFd fd_;
  std::string path_;  // absolute
  dev_t device_;
  ino_t inode_;
};

}  // namespace sp::session
