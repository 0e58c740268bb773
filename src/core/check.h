#pragma once

#include <string_view>

namespace sp::core {

/// Ends superprofiler with 125. The guardian lets the target go, as after a kill.
[[noreturn]] void check_failed(std::string_view condition, std::string_view file, int line);

/// From now on an exception that nobody catches (no memory, no thread) ends superprofiler with one
/// line and 125.
void end_by_line_where_uncaught();

}  // namespace sp::core

/// Checks an invariant of superprofiler's own, in release builds too. Never use it for what a
/// target or a user can cause.
#define SP_CHECK(condition)                                     \
  do {                                                          \
    if (!(condition)) {                                         \
      ::sp::core::check_failed(#condition, __FILE__, __LINE__); \
    }                                                           \
  } while (false)
