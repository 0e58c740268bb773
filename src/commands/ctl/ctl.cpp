#include "commands/ctl/ctl.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

#include "commands/session/unix_socket.h"
#include "core/fd.h"
#include "core/log.h"

namespace sp::ctl {
namespace {

constexpr int kOwnFailure = 125;

bool send_line(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) {
      return false;
    }
    text.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
  }
  return true;
}

/// The answer, with its line end; without one the run has ended.
std::string receive_line(int fd) {
  std::string line;
  std::array<char, 4096> bytes{};
  while (line.empty() || line.back() != '\n') {
    const ssize_t received = ::recv(fd, bytes.data(), bytes.size(), 0);
    if (received == 0 || (received < 0 && errno != EINTR)) {
      break;
    }
    line.append(bytes.data(), received > 0 ? static_cast<std::size_t>(received) : 0);
  }
  return line;
}

}  // namespace

int run(const cli::CtlOptions& options) {
  const auto fd = session::connect_to(options.path);
  if (!fd) {
    core::print_error(fmt::format(
        "ctl: nobody listens at {} ({}); start a run with --trace --control {}, or name its socket",
        options.path, fd.error().message(), options.path));
    return kOwnFailure;
  }
  const std::string answer =
      send_line(fd->get(), options.command + "\n") ? receive_line(fd->get()) : "";
  if (answer.empty() || answer.back() != '\n') {
    core::print_error(fmt::format("ctl: the run at {} has ended before it answered", options.path));
    return kOwnFailure;
  }
  std::fputs(answer.c_str(), stdout);
  return answer.starts_with("{\"ok\":true") ? 0 : 1;
}

}  // namespace sp::ctl
