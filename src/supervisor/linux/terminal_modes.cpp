#include "supervisor/linux/terminal_modes.h"

#include <unistd.h>

#include <string_view>

namespace sp::supervisor {

void restore_terminal(int fd, const termios& before) {
  // xterm's control sequences, which the terminals of today know: normal screen, cursor visible.
  constexpr std::string_view kReset = "\x1b[?1049l\x1b[?25h";
  [[maybe_unused]] const ssize_t written = ::write(fd, kReset.data(), kReset.size());
  ::tcsetattr(fd, TCSANOW, &before);
}

}  // namespace sp::supervisor
