#pragma once

#include <string_view>

namespace sp::core {

/// Called once when SP_CHECK fails, before the process exits with 125: it detaches from the target.
/// It may run on any thread and must not rely on the broken state.
using CheckHook = void (*)();
void set_check_hook(CheckHook hook);

[[noreturn]] void check_failed(std::string_view condition, std::string_view file, int line);

}  // namespace sp::core

/// Checks an invariant of superprofiler's own, in release builds too. Never use it for what a
/// target or a user can cause.
#define SP_CHECK(condition)                                     \
  do {                                                          \
    if (!(condition)) {                                         \
      ::sp::core::check_failed(#condition, __FILE__, __LINE__); \
    }                                                           \
  } while (false)
