#include "supervisor/guardian/guardian_messages.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace sp::supervisor {
namespace {

/// False if the ptrace thread is dead and its tracees run: then the next message may not exist. The
/// socket itself reports its end only when the last of superprofiler's threads is gone.
bool wait_for_message(int socket, int death) {
  std::array<pollfd, 2> both{{{socket, POLLIN, 0}, {death, POLLIN, 0}}};
  while (::poll(both.data(), both.size(), -1) < 0 && errno == EINTR) {
  }
  return both[1].revents == 0;
}

}  // namespace

bool send_message(int socket, GuardianMessage message, int descriptor) {
  iovec piece{&message, sizeof message};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  if (descriptor >= 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof message);
}

bool receive_message(int socket, int death, GuardianMessage& message, core::UniqueFd& descriptor) {
  const int flags = MSG_CMSG_CLOEXEC | (wait_for_message(socket, death) ? 0 : MSG_DONTWAIT);
  iovec piece{&message, sizeof message};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &header, flags);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof message)) {
    return false;
  }
  if (const cmsghdr* const rights = CMSG_FIRSTHDR(&header); rights != nullptr) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(rights), sizeof number);
    descriptor = core::UniqueFd(number);
  }
  return true;
}

}  // namespace sp::supervisor
