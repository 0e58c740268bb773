#include "commands/top/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "supervisor/linux/terminal_modes.h"

namespace sp::top {
namespace {

constexpr std::size_t kPlainLines = 24;
constexpr std::size_t kPlainColumns = 120;

winsize size_of(int fd) {
  winsize size{};
  (void)::ioctl(fd, TIOCGWINSZ, &size);
  return size;
}

}  // namespace

Screen::Screen(int fd, bool may_redraw, supervisor::Guardian& guardian)
    : fd_(fd), guardian_(guardian) {
  termios modes{};
  if (!may_redraw || ::tcgetattr(fd_, &modes) != 0 || ::tcgetpgrp(fd_) != ::getpgrp()) {
    return;
  }
  before_ = modes;
  modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  guardian_.register_terminal(fd_, *before_, modes);
  (void)::tcsetattr(fd_, TCSANOW, &modes);
  (void)write_all("\x1b[?1049h\x1b[?25l");
}

void Screen::close() {
  if (before_) {
    supervisor::restore_terminal(fd_, *before_);
    guardian_.unregister_terminal();
    before_.reset();
  }
}

std::size_t Screen::lines() const {
  const std::size_t lines = redraws() ? size_of(fd_).ws_row : 0;
  return lines > 0 ? lines - 1 : kPlainLines;
}

std::size_t Screen::columns() const {
  const std::size_t columns = redraws() ? size_of(fd_).ws_col : 0;
  return columns > 0 ? columns : kPlainColumns;
}

bool Screen::show(std::string_view table) {
  std::string text;
  if (redraws()) {
    text = "\x1b[H";  // each line is cleared to its end, so nothing flickers
    while (!table.empty()) {
      const auto end = table.find('\n');
      text.append(table.substr(0, end)).append("\x1b[K\n");
      table.remove_prefix(end == std::string_view::npos ? table.size() : end + 1);
    }
    text += "\x1b[J";
  } else {
    text.append(has_shown_ ? "\n" : "").append(table);
  }
  has_shown_ = true;
  return write_all(text);
}

bool Screen::quit_was_pressed() const {
  bool quit = false;
  while (redraws()) {
    pollfd ready{fd_, POLLIN, 0};
    char key = 0;
    if (::poll(&ready, 1, 0) <= 0 || (ready.revents & POLLIN) == 0 || ::read(fd_, &key, 1) <= 0) {
      break;
    }
    quit = quit || key == 'q' || key == 'Q';
  }
  return quit;
}

bool Screen::write_all(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace sp::top
