#include "profiler/emitter/reader_socket.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace sp::profiler {
namespace {

constexpr core::Duration kShortestPause = std::chrono::seconds(1);
constexpr core::Duration kLongestPause = std::chrono::seconds(60);

core::UniqueFd connect_to(const std::string& path) {
  core::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!fd.valid() || path.size() >= sizeof(address.sun_path)) {
    return {};
  }
  std::memcpy(static_cast<void*>(address.sun_path), path.data(), path.size());
  // EAGAIN: others wait to be accepted.
  const auto* const generic = static_cast<const sockaddr*>(static_cast<const void*>(&address));
  if (::connect(fd.get(), generic, sizeof(address)) != 0) {
    return {};
  }
  return fd;
}

}  // namespace

ReaderSocket::ReaderSocket(const EmitOptions& options)
    : path_(options.path), fd_(options.path.empty() ? options.fd : -1), pause_(kShortestPause) {}

bool ReaderSocket::connect(core::TimePoint now) {
  if (is_connected() || path_.empty() || now < retry_at_) {
    return is_connected();
  }
  fd_ = connect_to(path_);
  if (!fd_.valid()) {
    break_off(now);
  }
  reader_sends_ = true;
  return is_connected();
}

void ReaderSocket::put(std::string_view text) {
  if (is_sent()) {
    out_.clear();
    sent_ = 0;
  }
  out_ += text;
}

bool ReaderSocket::step(core::TimePoint now) {
  if (!is_connected()) {
    return false;
  }
  if (!receive() || !send_more()) {
    break_off(now);
    return false;
  }
  return true;
}

bool ReaderSocket::send_more() {
  while (!is_sent()) {
    const std::string_view rest = std::string_view(out_).substr(sent_);
    const ssize_t sent = ::send(fd_.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOBUFS;
    }
    sent_ += static_cast<std::size_t>(sent);
  }
  return true;
}

bool ReaderSocket::receive() {
  std::array<char, 4096> bytes{};
  while (reader_sends_) {
    const ssize_t received = ::recv(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (received < 0) {
      return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    }
    // A reader that has shut down its own side may go on reading.
    reader_sends_ = received > 0;
    pulls_ += static_cast<std::uint64_t>(received);
  }
  return !is_closed();
}

bool ReaderSocket::is_closed() const {
  pollfd state{fd_.get(), 0, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0;
}

/// A reader that closes first hangs up, then the kernel drops what it has not read: without the
/// second look that would pass for taken.
bool ReaderSocket::is_taken() const {
  int waiting = 0;  // bytes
  const bool is_empty = ::ioctl(fd_.get(), SIOCOUTQ, &waiting) != 0 || waiting == 0;
  return is_sent() && is_empty && !is_closed();
}

std::uint64_t ReaderSocket::take_pulls() { return std::exchange(pulls_, 0); }

void ReaderSocket::wait(core::Duration time) const {
  pollfd state{fd_.get(), static_cast<short>(is_sent() ? 0 : POLLOUT), 0};
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  (void)::poll(&state, 1, static_cast<int>(std::max<std::int64_t>(milliseconds, 1)));
}

void ReaderSocket::break_off(core::TimePoint now) {
  const bool was_connected = fd_.valid();
  fd_.reset();
  out_.clear();
  sent_ = 0;
  pulls_ = 0;
  if (was_connected) {
    pause_ = kShortestPause;  // it had been there
  }
  retry_at_ = now + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
}

}  // namespace sp::profiler
