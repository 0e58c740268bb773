#include "commands/record/control_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/clock.h"

namespace sp::record {
namespace {

constexpr std::size_t kMostClients = 64;  // others wait in the queue of the socket
constexpr std::size_t kMostUnread = std::size_t{256} << 10U;  // bytes of answers
constexpr int kBetweenLooks = 5;                              // ms, at what has no answer yet
constexpr core::Duration kLastAnswers = std::chrono::milliseconds(200);
constexpr std::string_view kTooLong =
    R"({"ok":false,"error":"a line has at most 65536 bytes; it was left out"})";
constexpr std::string_view kOver =
    R"({"ok":false,"error":"the run has ended: everything is in its files"})";

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

void ControlServer::start(Begin begin) {
  begin_ = std::move(begin);
  wake_ = core::UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  thread_ = std::jthread([this] {
    ::prctl(PR_SET_NAME, "sp-control");
    run();
  });
}

void ControlServer::stop() {
  if (thread_.joinable()) {
    ends_ = true;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
    thread_.join();
  }
  socket_.close();
}

void ControlServer::run() {
  while (!is_to_end()) {
    wait();
    accept_clients();
    for (Client& client : clients_) {
      receive(client);
      serve(client);
      send(client);
    }
    clients_.remove_if([](const Client& client) {
      return client.is_gone ||
             (client.has_ended && client.in.empty() && client.out.empty() && !client.pending);
    });
  }
  end_clients();
}

/// Until there is something to do.
void ControlServer::wait() {
  std::vector<pollfd> fds = {{wake_.get(), POLLIN, 0}};
  if (clients_.size() < kMostClients && !cannot_accept_) {
    fds.push_back({socket_.fd(), POLLIN, 0});
  }
  bool has_pending = cannot_accept_;
  for (const Client& client : clients_) {
    has_pending = has_pending || client.pending;
    const bool reads =
        !client.has_ended && client.in.size() <= kLongestLine && client.out.size() < kMostUnread;
    const auto events =
        static_cast<short>((reads ? POLLIN : 0) | (client.out.empty() ? 0 : POLLOUT));
    // One that has hung up and is waited for would end each wait at once.
    if (events != 0) {
      fds.push_back({client.fd.get(), events, 0});
    }
  }
  (void)::poll(fds.data(), fds.size(), has_pending ? kBetweenLooks : -1);
}

void ControlServer::accept_clients() {
  while (clients_.size() < kMostClients) {
    core::UniqueFd fd(::accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    cannot_accept_ = !fd.valid() && !would_block();
    if (!fd.valid()) {
      return;
    }
    clients_.emplace_back().fd = std::move(fd);
  }
}

void ControlServer::receive(Client& client) const {
  std::array<char, 16384> bytes{};
  while (!client.has_ended && !client.is_gone && client.in.size() <= kLongestLine &&
         client.out.size() < kMostUnread) {
    const ssize_t received = ::recv(client.fd.get(), bytes.data(), bytes.size(), 0);
    if (received < 0) {
      client.is_gone = !would_block();
      return;
    }
    client.has_ended = received == 0;
    client.in.append(bytes.data(), static_cast<std::size_t>(received));
  }
}

/// The next whole line. One that is too long is left out, and answered for by serve().
std::optional<std::string> ControlServer::take_line(Client& client) const {
  const std::size_t end = client.in.find('\n');
  if (end == std::string::npos && client.in.size() > kLongestLine) {
    client.skips_line = true;
    client.in.clear();
    return std::nullopt;
  }
  if (end == std::string::npos && (!client.has_ended || client.in.empty())) {
    return std::nullopt;
  }
  std::string line = client.in.substr(0, end);
  client.in.erase(0, end == std::string::npos ? end : end + 1);
  return line;
}

void ControlServer::serve(Client& client) const {
  while (client.out.size() < kMostUnread) {
    if (client.pending) {
      const auto answer = client.pending();
      if (!answer) {
        return;
      }
      client.out += *answer + "\n";
      client.pending = nullptr;
    }
    const auto line = take_line(client);
    if (!line) {
      return;
    }
    if (std::exchange(client.skips_line, false) || line->size() > kLongestLine) {
      client.out += kTooLong;
      client.out += '\n';
    } else {
      client.pending = begin_(*line);
    }
  }
}

void ControlServer::send(Client& client) {
  while (!client.is_gone && !client.out.empty()) {
    const ssize_t sent =
        ::send(client.fd.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      client.is_gone = !would_block();
      return;
    }
    client.out.erase(0, static_cast<std::size_t>(sent));
  }
}

void ControlServer::end_clients() {
  const core::TimePoint until = core::Clock::now() + kLastAnswers;
  accept_clients();
  for (Client& client : clients_) {
    receive(client);
    if (client.pending || !client.in.empty()) {
      const auto answer = client.pending ? client.pending() : std::nullopt;
      client.out += answer.value_or(std::string(kOver)) + "\n";
    }
    while (!client.is_gone && !client.out.empty() && core::Clock::now() < until) {
      send(client);
      pollfd fd{client.fd.get(), POLLOUT, 0};
      (void)::poll(&fd, 1, kBetweenLooks);
    }
  }
  clients_.clear();
}

}  // namespace sp::record
