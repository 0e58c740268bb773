#pragma once

#include <termios.h>

#include <atomic>

namespace sp::supervisor {

/// What a terminal was like before a full-screen view changed it, in memory that is shared with the
/// guardian.
struct TerminalModes {
  termios before{};
  termios during{};
  std::atomic<bool> is_changed{false};
};

/// Puts the modes of the terminal behind `fd` back, shows its cursor and leaves its alternate
/// screen. Does not wait for output that is held (Ctrl-S).
void restore_terminal(int fd, const termios& before);

/// The same after the view has died: modes that a shell has set since stay.
void restore_terminal_left(int fd, const TerminalModes& modes);

}  // namespace sp::supervisor
