#pragma once

#include <cstdint>

namespace sp::arch {

// The kernel's internal error numbers (include/linux/errno.h), which only a tracer sees: the call
// was interrupted and is restarted when the thread continues.
inline constexpr std::int64_t kRestartAlwaysOrSa = -512;     // ERESTARTSYS
inline constexpr std::int64_t kRestartAlways = -513;         // ERESTARTNOINTR
inline constexpr std::int64_t kRestartUnlessHandled = -514;  // ERESTARTNOHAND
inline constexpr std::int64_t kRestartByBlock = -516;        // ERESTART_RESTARTBLOCK

[[nodiscard]] constexpr bool is_kernel_restart(std::int64_t result) {
  return result == kRestartAlwaysOrSa || result == kRestartAlways ||
         result == kRestartUnlessHandled || result == kRestartByBlock;
}

}  // namespace sp::arch
