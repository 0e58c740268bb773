#pragma once

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string_view>

#include "supervisor/guardian/guardian.h"

namespace sp::top {

/// Where tables go: redrawn on a terminal's alternate screen, or one after the other. The terminal
/// is put back by close(), by the destructor, and by the guardian if this process dies. Used by one
/// thread at a time.
class Screen {
 public:
  /// Writes to `fd`. Redraws if that is a terminal and `may_redraw`; then keys are read from it.
  Screen(int fd, bool may_redraw, supervisor::Guardian& guardian);
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() { close(); }

  [[nodiscard]] bool redraws() const { return before_.has_value(); }
  [[nodiscard]] std::size_t lines() const;
  [[nodiscard]] std::size_t columns() const;

  /// False if nobody reads it any more.
  bool show(std::string_view table);
  /// True if q was pressed. Does not wait.
  [[nodiscard]] bool quit_was_pressed() const;
  void close();

 private:
  [[nodiscard]] bool write_all(std::string_view text) const;

  int fd_;
  supervisor::Guardian& guardian_;
  std::optional<termios> before_;  // while the terminal is changed
  bool has_shown_ = false;
};

}  // namespace sp::top
