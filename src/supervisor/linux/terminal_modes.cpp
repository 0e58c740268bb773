#include "supervisor/linux/terminal_modes.h"

#include <poll.h>
#include <unistd.h>

#include <string_view>

namespace sp::supervisor {

namespace {

void leave_screen(int fd) {
  // xterm's control sequences, which the terminals of today know: normal screen, cursor visible.
  constexpr std::string_view kReset = "\x1b[?1049l\x1b[?25h";
  pollfd writable{fd, POLLOUT, 0};
  if (::poll(&writable, 1, 0) == 1 && (writable.revents & POLLOUT) != 0) {
    [[maybe_unused]] const ssize_t written = ::write(fd, kReset.data(), kReset.size());
  }
}

}  // namespace

void restore_terminal(int fd, const termios& before) {
  ::tcsetattr(fd, TCSANOW, &before);
  leave_screen(fd);
}

void restore_terminal_left(int fd, const TerminalModes& modes) {
  termios now{};
  if (::tcgetattr(fd, &now) == 0 && now.c_lflag == modes.during.c_lflag &&
      now.c_iflag == modes.during.c_iflag && now.c_oflag == modes.during.c_oflag) {
    ::tcsetattr(fd, TCSANOW, &modes.before);
  }
  leave_screen(fd);
}

}  // namespace sp::supervisor
