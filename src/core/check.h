#pragma once

#include <string_view>

namespace sp::core {

/// Called once when a promise of our own is found broken, before the process ends with 125: it
/// lets the target go. It may run on any thread and must not rely on the state that is broken.
using CheckHook = void (*)();
void set_check_hook(CheckHook hook);

[[noreturn]] void check_failed(std::string_view condition, std::string_view file, int line);

}  // namespace sp::core

/// Guards our own promises, in release builds too. Never for what a target or a user can cause.
#define SP_CHECK(condition)                                     \
  do {                                                          \
    if (!(condition)) {                                         \
      ::sp::core::check_failed(#condition, __FILE__, __LINE__); \
    }                                                           \
  } while (false)
