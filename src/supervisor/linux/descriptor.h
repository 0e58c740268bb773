#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace sp::supervisor {

/// A descriptor of a process, as a transfer to it sees it.
struct Descriptor {
  enum class Kind {
    pipe,
    stream_socket,
    file,  // or a block device
    terminal,
    other,  // where a result may be short by itself: files of /proc, message sockets, devices
  };
  Kind kind = Kind::other;
  /// A transfer waits until it is done: neither O_NONBLOCK nor SO_SNDTIMEO, and the size of files
  /// is not limited.
  bool waits = false;
  /// The same for what is received: neither O_NONBLOCK nor SO_RCVTIMEO.
  bool waits_to_receive = false;
};

/// The descriptor that a system call has as that argument. Nothing if it is not open, or the thread
/// is gone. Of a socket whose options cannot be read (Linux before 5.6, containers) we assume that
/// it has no timeout.
[[nodiscard]] std::optional<Descriptor> look_at_descriptor(pid_t tid, std::uint64_t argument);

/// Where the next read(2) or write(2) begins.
[[nodiscard]] std::optional<std::uint64_t> file_position(pid_t tid, int number);

}  // namespace sp::supervisor
